import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, B):
        return torch.relu(A @ B)


M, K, N = 64, 48, 80
batch, *_ = (3, 4)


def get_inputs():
    return [torch.rand(batch, M, K), torch.rand(K, N)]


def get_init_inputs():
    return []
