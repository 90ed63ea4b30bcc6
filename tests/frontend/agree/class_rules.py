from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class Sizes:
    width: int = 4
    heads: int = 2
    each: int = 0
    more: list = field(default_factory=lambda: [1, 2])

    def __post_init__(self):
        self.each = self.width // self.heads


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.__own = 2

    def forward(self, x):
        return x + self.__own


class Left(Base):
    def forward(self, x):
        return super().forward(x) * 2


class Right(Base):
    def __init__(self):
        super().__init__()
        self.__own = 5

    def forward(self, x):
        return super().forward(x) * 3 + self.__own


class Both(Left, Right):
    pass


class Called(nn.Module):
    def __call__(self, x):
        return x * 7

    def forward(self, x):
        return x


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.forward = self.other

    def other(self, x):
        return x * 11

    def forward(self, x):
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.both, self.called, self.chosen = Both(), Called(), Chosen()
        self.sizes = Sizes(heads=4)
        self.sizes.more.append(Sizes().more[1])

    def forward(self, x):
        return self.both(x), self.called(x), self.chosen(x), x * self.sizes.each + sum(self.sizes.more)


def get_inputs():
    return [torch.randn(3, 4)]
