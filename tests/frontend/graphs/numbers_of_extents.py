# options: --dims N=4 --dims V=10
import math

import torch


def reference(x: "fp32[N, V]"):
    V = x.shape[1]
    y = x * V ** -0.5 / math.log(V) + 0.1 / (V - 1)
    return y[:, :int(V * 0.5)], y[:, :int(V * 0.3)]
