# options: --dims N=8
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x


def reference(x: "fp32[N]"):
    return Square.apply(x)
