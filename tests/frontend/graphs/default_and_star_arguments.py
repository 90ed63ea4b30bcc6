# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    def total(first, *rest, weight=1.0, **options):
        for one in rest:
            first = first + one * weight
        return first * options.get('gain', 1)


    parts = (x, x)
    return total(x, *parts, weight=2.0, **{'gain': 3})
