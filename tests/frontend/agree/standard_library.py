# options: --dims B=6 --dims D=8
import functools
import itertools
from functools import partial

import torch
import torch.nn.functional as F


def twice(function):
    @functools.wraps(function)
    def inner(*arguments, **named):
        return function(function(*arguments, **named), **named)

    return inner


@twice
def step(x, by=3):
    return x * 2 + by


def reference(x: "fp32[B, D]"):
    leaky = partial(F.leaky_relu, negative_slope=0.3)
    total = sum(leaky(x) * a + b for a, b in itertools.product([1, 2], [3, 4]))
    total = total + sum(itertools.accumulate([1, 2, 3])) + len(list(itertools.combinations(range(4), 2)))
    settings = {"a": 1}
    settings.update(b=2)
    numbers = [3, 4, 5]
    del numbers[0]
    return total, step(x, by=settings["b"]) * numbers[0], {"named": x.broadcast_to(2, x.shape[0], x.shape[1]), "more": (x + 1,)}
