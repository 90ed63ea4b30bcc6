import torch
import torch.nn.functional as F


def reference(x: "fp32[8, 5]", t: "int64[8]"):
    kept = t.remainder(5)
    return F.cross_entropy(x, kept, ignore_index=0), F.cross_entropy(x, kept, ignore_index=2, label_smoothing=0.1)
