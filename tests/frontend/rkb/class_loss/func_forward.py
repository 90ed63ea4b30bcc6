import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(scores, wanted):
    """The mean of minus the logarithm of the wanted classes' probabilities."""
    return -F.log_softmax(scores, dim=1).gather(1, wanted[:, None]).mean()


class Model(nn.Module):
    def forward(self, scores, wanted, fn=forward_fn):
        return fn(scores, wanted)


def get_inputs(batch_size: int = 64, classes: int = 10):
    return [torch.randn(batch_size, classes), torch.randint(0, classes, (batch_size,))]


input_names = ["scores", "wanted"]
