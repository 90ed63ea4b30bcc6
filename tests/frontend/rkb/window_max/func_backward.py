import torch
import torch.nn as nn


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        rows, columns = x.shape
        return x.view(rows, columns // 2, 2).amax(-1)

    @staticmethod
    def backward(ctx, upstream):
        x = ctx.saved_tensors
        return AutogradFunction.backward_fn(x, upstream)


def forward_fn(x):
    """The larger one of every two neighbours."""
    rows, columns = x.shape
    return x.view(rows, columns // 2, 2).amax(-1)


class Model(nn.Module):
    def __init__(self, kernel_size: int = 2):
        super().__init__()

    def forward(self, x, fn=forward_fn):
        return fn(x)


def get_inputs(rows: int = 64, columns: int = 28):
    return [torch.randn(rows, columns, requires_grad=True)]


input_names = ["x"]
