import torch


def wide(q: "fp16[2, L, D]", k: "fp16[2, S, D]", v: "fp16[2, S, F]"):
    shares = torch.softmax(q.float() @ k.float().transpose(-2, -1), dim=-1)
    return shares @ v.float()
