import torch
import torch.nn.functional as F


def reference(x, h, w_in, w_state, b):
    y = torch.tanh(F.linear(x, w_in, b) + F.linear(h, w_state))
    return y
