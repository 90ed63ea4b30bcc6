from collections import OrderedDict

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.grown = nn.Sequential()
        for i in range(2):
            self.grown.add_module("step%d" % i, nn.Linear(width, width))
            self.grown.add_module("act{}".format(i), nn.Tanh())
        self.changed = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.changed[1] = nn.Sigmoid()
        self.changed.last = nn.Softplus()
        self.named = nn.Sequential(OrderedDict([("begin", nn.Linear(width, width)), ("end", nn.GELU())]))
        self.kept = nn.ModuleDict({"a": nn.Linear(width, width)})
        self.kept["b"] = nn.Tanh()
        self.kept.update({"c": nn.Linear(width, width)})
        for i in range(2):
            setattr(self, f"line{i:02d}", nn.Linear(width, width))

    def forward(self, x):
        x = self.changed(self.grown(x))
        x = self.changed[:2](x) + self.changed[2:](x)
        x = self.named.end(self.named[0](x))
        for key in self.kept:
            x = self.kept[key](x)
        for i in range(2):
            x = getattr(self, "line%02d" % i)(x)
        return x * len(self.kept) if "a" in self.kept and "z" not in self.kept else x


def get_inputs():
    return [torch.randn(3, 4)]


def get_init_inputs():
    return [4]
