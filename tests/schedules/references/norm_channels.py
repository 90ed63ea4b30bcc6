import torch


def reference(x: "fp16[N, C, L]", weight: "fp16[C]", bias: "fp16[L]"):
    wide = x.float()
    centered = wide - wide.mean(1, keepdim=True)
    scale = torch.rsqrt((centered * centered).mean(1, keepdim=True) + 1e-5)
    return (centered * scale * weight.float()[None, :, None] + bias.float()).half()
