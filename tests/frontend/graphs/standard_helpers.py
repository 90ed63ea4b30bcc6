# options: --dims B=2 --dims D=6
import collections.abc
from itertools import chain, repeat


def pair(x):
    return tuple(x) if isinstance(x, collections.abc.Iterable) else tuple(repeat(x, 2))


def reference(x: "fp32[B, D]"):
    first, second = pair(3), pair((4, 5))
    return sum(chain(first, second)) * x
