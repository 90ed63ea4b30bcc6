# options: --dims B=4
import torch


def reference(x: "fp16[B]", i: "int32[B]"):
    return x + i, x * True, i / 2, i // 2
