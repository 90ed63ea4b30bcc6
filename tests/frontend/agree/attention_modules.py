import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, embed, heads):
        super().__init__()
        self.first = nn.MultiheadAttention(embed, heads, batch_first=True)
        self.second = nn.MultiheadAttention(embed, heads, bias=False)

    def forward(self, x, y):
        causal = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), diagonal=1)
        a, weights = self.first(x, x, x, attn_mask=causal)
        b, _ = self.second(a.transpose(0, 1), y, y, need_weights=False)
        return b, weights


def get_inputs():
    return [torch.randn(2, 5, 8), torch.randn(7, 2, 8)]


def get_init_inputs():
    return [8, 2]
