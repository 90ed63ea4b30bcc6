# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]", out: "fp16[B, D]"):
    out.copy_(x * 2)
