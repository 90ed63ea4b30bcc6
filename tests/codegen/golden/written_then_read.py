import torch


def written_then_read(cache: "fp32[S, D]", rows: "fp32[T, D]", slot: "int64[T]"):
    cache[slot] = rows
    return cache.sum(-1)
