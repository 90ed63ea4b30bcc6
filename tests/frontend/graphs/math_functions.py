# options: --dims B=4 --dims D=6
import math

import torch


def reference(x: "fp32[B, D]"):
    return x * (1.0 / math.sqrt(x.shape[-1])) + math.log(2.0) * max(1, min(3, 2))
