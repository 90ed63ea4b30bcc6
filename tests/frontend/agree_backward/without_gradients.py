import torch
import torch.nn as nn


@torch.no_grad()
def constant(x):
    return x.tanh()


class Model(nn.Module):
    @torch.no_grad()
    def method(self, x):
        return x + 1

    @torch.inference_mode(False)
    def counted(self, x):
        return x * 5

    def forward(self, x):
        with torch.no_grad():
            y = x * 2
            with torch.enable_grad():
                z = x * 3
        with torch.set_grad_enabled(False):
            u = x * x
        return constant(x) * x + self.method(x) * x + self.counted(x) + y * x + z + u * x


def get_inputs():
    return [torch.randn(3, 5)]
