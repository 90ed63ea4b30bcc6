import torch


def reference(x: "fp32[B, D]"):
    steps = torch.linspace(0, 1, 4)
    for _ in range(40):
        steps = steps + steps
    return x * steps[1].item()
