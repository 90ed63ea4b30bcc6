import torch
import torch.nn.functional


def reference(x: "bf16[B, D]", index: "int64[N]", src: "bf16[N, D]"):
    return x.index_add(0, index % x.shape[0], src)
