# options: --dims B=3 --dims N=9 --dims K=2
import torch


def reference(x: "fp32[B, N]", w: "fp32[K]"):
    # Neither is what it looks like where N is 1.
    return x[:, 1:-1].mean(-1), x[:, 1:x.shape[1] - 1:w.shape[0]].mean() + w.sum()
