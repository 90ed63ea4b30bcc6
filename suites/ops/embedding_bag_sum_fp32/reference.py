import torch.nn.functional as F


def reference(ids, table):
    y = F.embedding_bag(ids, table, mode="sum")
    return y
