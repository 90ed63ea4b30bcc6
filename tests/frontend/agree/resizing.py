import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.near = nn.Upsample(scale_factor=(1, 2))
        self.wide = nn.UpsamplingBilinear2d(size=(9, 7))
        self.around = nn.Sequential(nn.ReflectionPad2d(1), nn.ZeroPad2d((0, 1, 2, 0)), nn.ReplicationPad2d((1, 0, 0, 1)),
                                    nn.ConstantPad2d(1, 0.5), nn.CircularPad2d(1))
        self.columns = nn.Unfold(2, stride=2)
        self.back = nn.Fold((8, 12), 2, stride=2)

    def forward(self, x):
        y = self.near(self.up(self.wide(self.around(x))))
        z = self.back(self.columns(x.repeat(1, 1, 2, 2)) * 2)
        return y, z, nn.functional.interpolate(x, size=(7, 5), mode="bicubic")


def get_inputs():
    return [torch.randn(1, 2, 4, 6)]


def get_init_inputs():
    return []
