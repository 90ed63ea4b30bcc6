import torch.nn.functional as F


def reference(ids, table):
    y = F.embedding(ids, table).float().mean(1).to(table.dtype)
    return y
