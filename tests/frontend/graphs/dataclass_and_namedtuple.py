# options: --dims N=8
from dataclasses import dataclass
from typing import NamedTuple

import torch


@dataclass
class Config:
    gain: float
    offset: float = 1.0


class Pair(NamedTuple):
    low: torch.Tensor
    high: torch.Tensor


def split(x, config):
    return Pair(x * config.gain, x + config.offset)


def reference(x: "fp32[N]"):
    pair = split(x, Config(gain=2.0))
    low, high = pair
    return low - pair.high
