# options: --dims B=2 --dims H=4 --dims W=6 --dims C=3
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange
import torch.nn as nn

patches = nn.Sequential(Rearrange("b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3))


def reference(x: "fp32[B, H, W, C]", y: "fp32[C]"):
    turned = rearrange(x, "b h w c -> b c h w")
    joined = rearrange([y, y], "n ... -> (n ...)")
    means = reduce(x, "b (h 2) (w 2) c -> b h w c".replace("2", "p"), "mean", p=2)
    tops = reduce(x, "b ... c -> b 1 c", "max")
    rows = repeat(y, "c -> b (c k)", b=2, k=2)
    return patches(x), turned, joined, means, tops, rows
