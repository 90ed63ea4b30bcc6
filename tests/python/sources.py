"""Callables for test_reference.py, in a file of their own so that they have source."""

import functools
import math
import math as m

EPS = 1e-5
SHAPE = (1, 2)
LIMIT = float("inf")
x = object()  # a global of the name parameters have


def helper(value):
    return value * EPS


def function(x, y=math.pi):
    def inner(z):
        return helper(z) + m.sqrt(2)

    return inner(x) if y < LIMIT else SHAPE


def closing(k):
    def scaled(x):
        return x * k

    return scaled


def over_object(y):
    return y, x


def recursive(n):
    return 1 if n < 1 else n * recursive(n - 1)


named = lambda x, y: helper(x) + y  # noqa: E731
pair = [lambda x: x + 1, lambda x: x * 2]
spread = [
    lambda x, k=3: (
        helper(x) * k
    ),
]
part = functools.partial(function, y=3.0)
alias = helper


class Model:
    def forward(self, x):
        return helper(x)


def get_init_inputs():
    return [SHAPE]
