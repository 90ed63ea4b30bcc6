import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.proj = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.half()
        self.eval()

    def forward(self, x) -> torch.Tensor:
        gate, up = self.proj(x).chunk(2, dim=-1)
        return self.down(self.dropout(F.silu(gate) * up))


batch_size = 8
seq = 512
width = 1024
hidden = 4096


def get_inputs():
    return [torch.randn(batch_size, seq, width).half()]


def get_init_inputs():
    return [width, hidden]
