import torch.nn.functional as F

B = 2
D = 1048576


def layer_norm_long(x: "fp16[B, D]", w: "fp16[D]", b: "fp16[D]"):
    return F.layer_norm(x, (x.shape[-1],), w, b)
