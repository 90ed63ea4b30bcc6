# options: --dims B=4 --dims D=6
import torch

GAIN = 0.5
OFFSETS = (1.0, 2.0)


def twice(v):
    return v + v


def shift(v, *, by):
    return v - by


def reference(x: "fp32[B, D]"):
    return twice(x) * GAIN + shift(x, by=OFFSETS[1])
