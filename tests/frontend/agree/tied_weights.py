import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)
        self.out = nn.Linear(width, rows, bias=False)
        self.out.weight = self.table.weight
        self.step = nn.Linear(width, width)
        self.again = self.step

    def forward(self, ids):
        return self.out(self.again(self.step(self.table(ids))))


def get_inputs():
    return [torch.randint(0, 7, (2, 3))]


def get_init_inputs():
    return [7, 4]
