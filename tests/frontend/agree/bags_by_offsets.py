import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.closed = nn.EmbeddingBag(rows, width, mode="sum", include_last_offset=True)
        self.open = nn.EmbeddingBag(rows, width, padding_idx=3)

    def forward(self, ids, weights):
        starts = torch.tensor([0, 2, 2, 5, 8])
        return self.closed(ids, starts, per_sample_weights=weights), self.closed(ids, starts, weights), self.open(ids, starts)


def get_inputs():
    return [torch.randint(0, 10, (8,)), torch.randn(8)]


def get_init_inputs():
    return [10, 4]
