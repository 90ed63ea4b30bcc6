import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, 2, batch_first=True, bidirectional=True)
        self.short = nn.LSTM(2 * hidden, hidden, proj_size=3)
        self.gru = nn.GRU(3, hidden, num_layers=3, bias=False)
        self.rnn = nn.RNN(hidden, hidden, 1, "relu", bidirectional=True)

    def forward(self, x, h0, c0):
        y, (h, c) = self.lstm(x, (h0, c0))
        z, (_, kept) = self.short(y.transpose(0, 1))
        z, last = self.gru(z)
        w, ends = self.rnn(z[:, 0])
        return y, h, c, kept, last, w, ends


def get_inputs():
    return [torch.randn(2, 4, 3), torch.randn(4, 2, 5), torch.randn(4, 2, 5)]


def get_init_inputs():
    return [3, 5]
