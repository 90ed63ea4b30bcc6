# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    parts = [x[:, i] for i in range(3) if i != 1]
    table = {k: v for k, v in zip('ab', parts)}
    return sum(table.values()) + len(parts)
