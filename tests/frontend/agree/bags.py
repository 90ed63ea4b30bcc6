import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.EmbeddingBag(11, 4)
        self.most = nn.EmbeddingBag(11, 4, mode="max")

    def forward(self, i):
        return self.mean(i) + self.most(i)


def get_inputs():
    return [torch.randint(0, 11, (3, 5))]


def get_init_inputs():
    return []
