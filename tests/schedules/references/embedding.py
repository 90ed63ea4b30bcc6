import torch
import torch.nn.functional


def reference(w: "fp16[V, D]", index: "int64[B, S]"):
    return torch.nn.functional.embedding(index % w.shape[0], w)
