# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    return x.new_zeros(2, 3), x.new_full((2,), 3), torch.full_like(x, 2), torch.eye(3), torch.linspace(0, 1, 5), torch.tensor([[1, 2], [3, 4]]), torch.arange(0, 10, 3), torch.zeros(2, dtype=torch.int32)
