import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width, num_experts, k):
        super().__init__()
        self.gate = nn.Linear(width, num_experts, bias=False)
        self.k = k

    def forward(self, x) -> torch.Tensor:
        scores = F.softmax(self.gate(x), dim=-1)
        weights, experts = torch.topk(scores, self.k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights, experts


tokens = 4096
width = 1024
num_experts = 64


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width, num_experts, 2]
