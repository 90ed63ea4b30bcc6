"""functools and itertools, which models are built with. Evaluated like a reference, by the same rules; never run."""
from kernelwright import names


@names("functools.partial")
def partial(function, *first, **named):
    def call(*rest, **more):
        return function(*first, *rest, **{**named, **more})

    return call


@names("itertools.product")
def product(*lists, repeat=1):
    rows = [()]
    for one in lists * repeat:
        items = list(one)
        rows = [row + (item,) for row in rows for item in items]
    return rows


@names("itertools.accumulate")
def accumulate(items, function=None, *, initial=None):
    totals = [] if initial is None else [initial]
    for item in items:
        totals.append(item if not totals else totals[-1] + item if function is None else function(totals[-1], item))
    return totals


@names("itertools.pairwise")
def pairwise(items):
    listed = list(items)
    return list(zip(listed[:-1], listed[1:]))


@names("itertools.islice")
def islice(items, start, *rest):
    listed = list(items)
    return listed[slice(start, *rest)] if rest else listed[:start]


@names("itertools.combinations")
def combinations(items, count):
    listed = list(items)
    rows = [()]
    places = [-1]
    for _ in range(count):
        pairs = [(row, place, next) for row, place in zip(rows, places) for next in range(place + 1, len(listed))]
        rows = [row + (listed[next],) for row, place, next in pairs]
        places = [next for row, place, next in pairs]
    return rows
