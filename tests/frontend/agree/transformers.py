import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, 12, 0.0, activation="gelu", norm_first=True, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(width))
        self.decoder = nn.TransformerDecoderLayer(d_model=width, nhead=heads, dim_feedforward=10, dropout=0.0, activation=F.silu, batch_first=True)
        self.whole = nn.Transformer(width, heads, 1, 1, 9, dropout=0.0)

    def forward(self, x, y, padding):
        mask = nn.Transformer.generate_square_subsequent_mask(y.size(1))
        memory = self.encoder(x, src_key_padding_mask=padding)
        z = self.decoder(y, memory, tgt_mask=mask)
        return z, self.whole(x.transpose(0, 1), z.transpose(0, 1))


def get_inputs():
    return [torch.randn(2, 4, 8), torch.randn(2, 3, 8), torch.tensor([[False, False, True, False], [False, True, False, False]])]


def get_init_inputs():
    return [8, 2]
