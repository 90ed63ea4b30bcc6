import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.narrow = nn.MultiheadAttention(width, heads, kdim=5, vdim=3, batch_first=True)
        self.longer = nn.MultiheadAttention(width, heads, add_bias_kv=True, add_zero_attn=True)

    def forward(self, q, k, v, mask):
        y, shares = self.narrow(q, k, v, average_attn_weights=False)
        z, more = self.longer(y, y, y, attn_mask=mask)
        return z, shares, more


def get_inputs():
    return [torch.randn(3, 2, 8), torch.randn(3, 4, 5), torch.randn(3, 4, 3), torch.tril(torch.ones(3, 3)) < 1]


def get_init_inputs():
    return [8, 2]
