"""Bags of embeddings. Evaluated like a reference, by the same rules; never run.

Bags have ragged lengths, which a graph cannot express. A mask [bags, rows] says which rows are in which bag, and a masked reduction adds
them. The cost: the graph does work for every pair of bag and row. max_norm is refused.
"""
import torch
import torch.nn.functional as F
from aten import library
from kernelwright import op


def within_bags(index, offsets, closed):
    """Which of the N rows are in which of the B bags: [B, N, 1]."""
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    offsets = offsets.to(torch.int64)
    count, ends = index.shape[0], offsets.shape[0]
    if float(ends) < (2 if closed else 1):
        raise ValueError("offsets has to name at least one bag")
    starts = offsets.narrow(0, 0, ends - 1) if closed else offsets
    stops = offsets.narrow(0, 1, ends - 1)
    if not closed:
        stops = torch.cat([stops, torch.tensor(count, dtype=torch.int64).reshape(1)], 0)
    bags = starts.shape[0]
    place = library.positions([1, count, 1], 1)
    before = place < stops.reshape(bags, 1, 1)
    return (starts.reshape(bags, 1, 1) <= place) & before


def bag(input, weight, offsets, max_norm, mode, per_sample_weights, include_last_offset, padding_idx):
    if max_norm is not None:
        raise ValueError("embedding_bag(): max_norm, which rewrites the table, is not supported")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    within = None
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences")
        found = F.embedding(input, weight)
    elif input.dim() == 1:
        within = within_bags(input, offsets, include_last_offset)
        found = F.embedding(input, weight).unsqueeze(0)
    else:
        raise ValueError(f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if padding_idx is not None:
        # Rows with this index are in no bag.
        count = weight.shape[0]
        if float(padding_idx) < -float(count) or float(padding_idx) >= float(count):
            raise ValueError("padding_idx must be within the number of embeddings")
        flat = input.dim() == 1
        shape = [1 if flat else input.shape[0], input.shape[0 if flat else 1], 1]
        real = input.to(torch.int64).reshape(shape) != (padding_idx + count if float(padding_idx) < 0 else padding_idx)
        within = real if within is None else within & real
    rows = library.wide(found)
    if per_sample_weights is not None:
        if mode != "sum":
            raise ValueError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum'")
        rows = rows * library.wide(per_sample_weights.unsqueeze(-1))
    if within is not None:
        rows = torch.where(within, rows, float("-inf") if mode == "max" else 0.0)
    result = torch.amax(rows, 1, keepdim=True) if mode == "max" else torch.sum(rows, 1, keepdim=True)
    if within is None and mode == "mean":
        result = result / found.shape[1]
    if within is not None and mode != "sum":
        size = within.to(rows.dtype).sum(1, keepdim=True)
        result = result / torch.maximum(size, 1.0) if mode == "mean" else torch.where(size == 0, 0.0, result)
    return result.to(found.dtype).squeeze(1)


@op("F.embedding_bag")
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor = None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode: str = "mean",
                  sparse=False, per_sample_weights: Tensor = None, include_last_offset: bool = False, padding_idx: int = None):
    return bag(input, weight, offsets, max_norm, mode, per_sample_weights, include_last_offset, padding_idx)


@op("aten.nn.embedding_bag")
def module_embedding_bag(input: Tensor, offsets: Tensor = None, per_sample_weights: Tensor = None, *, weight: Tensor, max_norm=None, mode: str = "mean",
                         include_last_offset: bool = False, padding_idx: int = None):
    return bag(input, weight, offsets, max_norm, mode, per_sample_weights, include_last_offset, padding_idx)


@op("aten._embedding_bag aten._embedding_bag_forward_only")
def aten_embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor = None, scale_grad_by_freq=False, mode: int = 0, sparse=False,
                       per_sample_weights: Tensor = None, include_last_offset: bool = False, padding_idx: int = -1):
    """ATen's modes are numbers, and its bags always have offsets. The other results are for the backward pass."""
    if mode not in (0, 1, 2):
        raise ValueError(f"embedding_bag mode {mode}")
    if padding_idx >= 0:
        raise ValueError("embedding_bag(): padding_idx is not supported")
    word = ("sum", "mean", "max")[mode]
    return bag(indices, weight, offsets, None, word, per_sample_weights, include_last_offset, None), None, None, None
