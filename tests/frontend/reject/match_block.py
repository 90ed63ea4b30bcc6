import torch


def reference(x: "fp32[B, D]"):
    match x.ndim:
        case 2:
            return x
