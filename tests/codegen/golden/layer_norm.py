import torch.nn.functional as F


def layer_norm(x: "fp32[B, D]", w: "fp32[D]", b: "fp32[D]"):
    return F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)
