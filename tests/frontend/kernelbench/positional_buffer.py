import torch
import torch.nn as nn
import math


class Model(nn.Module):
    def __init__(self, width, max_length):
        super().__init__()
        position = torch.arange(max_length).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        pe = torch.zeros(1, max_length, width)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)
        self.scale = math.sqrt(width)

    def forward(self, x) -> torch.Tensor:
        return x * self.scale + self.pe[:, : x.size(1)]


batch_size = 16
length = 512
width = 256
max_length = 1024


def get_inputs():
    return [torch.randn(batch_size, length, width)]


def get_init_inputs():
    return [width, max_length]
