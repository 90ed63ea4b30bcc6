# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    parts = [x[:, i] for i in range(x.shape[1])]
    weights = {i: i / 2 for i in range(len(parts))}
    return sum(w * parts[i] for i, w in weights.items()), torch.stack(list(reversed(parts)), dim=1), max(len(parts), 3) * x[0]
