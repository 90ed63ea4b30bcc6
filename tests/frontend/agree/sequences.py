import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.conv = nn.Conv1d(width, hidden, 3, padding="same")
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)
        self.gru = nn.GRU(hidden, hidden, batch_first=True, bias=False)
        self.rnn = nn.RNN(hidden, hidden, nonlinearity="relu")
        self.cell = nn.LSTMCell(hidden, hidden)

    def forward(self, x, h0):
        y = self.conv(x.transpose(1, 2)).transpose(1, 2)
        y, (h, c) = self.lstm(y)
        y, _ = self.gru(y, h0)
        y, last = self.rnn(y.transpose(0, 1))
        h, c = self.cell(last[0], (h[0], c[0]))
        return y, h, c


def get_inputs():
    return [torch.randn(3, 5, 4), torch.randn(1, 3, 6)]


def get_init_inputs():
    return [4, 6]
