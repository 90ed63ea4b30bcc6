import torch


def reference(q, k):
    s = torch.einsum("bmak,bnak->bamn", q, k)
    return s
