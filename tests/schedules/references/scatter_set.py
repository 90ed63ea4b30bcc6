import torch
import torch.nn.functional


def reference(x: "fp16[B, D]", index: "int64[B, D]", src: "fp16[B, D]"):
    return x.scatter(1, index % x.shape[1], src) * 2
