import torch


def reference(x: "bf16[N, 3, H, 7]"):
    return torch.softmax(x.float(), 1).bfloat16()
