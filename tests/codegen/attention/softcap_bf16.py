import torch


def softcap(q: "bf16[2, L, 96]", k: "bf16[2, S, 96]", v: "bf16[2, S, 96]"):
    scores = torch.tanh(q @ k.transpose(-2, -1) / 20) * 20
    return torch.softmax(scores.float(), dim=-1).to(v.dtype) @ v
