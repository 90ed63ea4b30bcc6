# options: --dims B=2
import torch


def reference(x: "fp32[B]"):
    rates = [rate.item() for rate in torch.linspace(0, 0.5, 3)]
    table = torch.tensor([[1.0, 2.0], [3.0, 4.5]]).t()
    return x * rates[1] + float(table[0, 1]) * rates[2]
