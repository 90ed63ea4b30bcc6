import torch
import torch.nn.functional


def reference(x: "fp32[B, D]", index: "int64[B, D]", src: "fp32[B, D]"):
    return x.scatter_add(1, index % x.shape[1], src)
