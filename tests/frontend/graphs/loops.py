# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    y = x
    for i, k in enumerate([2, 4]):
        y = y * k + i
    for a, b in zip(range(2), (10, 20)):
        if a == 1:
            continue
        y = y + b
    n = 3
    while n > 0:
        n -= 1
        if n == 1:
            break
        y = y - n
    else:
        y = y * 100
    return y
