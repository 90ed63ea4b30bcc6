import torch
import torch.nn.functional


def reference(x: "fp32[B, D]", index: "int64[N]"):
    return torch.index_select(x, 0, index % x.shape[0]) * 2
