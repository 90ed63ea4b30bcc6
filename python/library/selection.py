"""Choosing along one dim, and counting against sorted boundaries. Evaluated like a reference, by the same rules; never run.

searchsorted counts the boundaries below each value instead of a binary search, because a graph has no loops. The result is the same for
sorted boundaries; the work is values times boundaries. Quantiles need the number of elements, so that extent becomes a constant of the trace.
"""
import math

import torch
from aten import library
from kernelwright import op


@op("torch.msort Tensor.msort")
def msort(input: Tensor):
    return torch.sort(input, 0)[0]


def ranks_of(q, n, interpolation):
    """The two ranks between which the q-quantile of n values lies, and the weight of the upper one."""
    if not 0 <= q <= 1:
        raise RuntimeError("quantile() q must be in the range [0, 1]")
    at = q * (n - 1)
    low, high = math.floor(at), math.ceil(at)
    if interpolation == "linear":
        return low, high, at - low
    if interpolation == "midpoint":
        return low, high, 0 if low == high else 0.5
    if interpolation == "nearest":
        low = round(at)
    elif interpolation not in ("lower", "higher"):
        raise RuntimeError(f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    low = high if interpolation == "higher" else low
    return low, low, 0


def quantile_at(sorted, dim, q, interpolation):
    """Interpolates between the sorted values. NaN sorts last, and one NaN makes the whole row NaN."""
    low, high, weight = ranks_of(q, library.concrete(sorted.shape[dim]), interpolation)
    below, above = sorted.narrow(dim, low, 1), sorted.narrow(dim, high, 1)
    last = sorted.narrow(dim, sorted.shape[dim] - 1, 1)
    value = below if weight == 0 else below + (above - below) * weight
    return torch.where(torch.isnan(last), last, value)


@op("torch.quantile Tensor.quantile")
def quantile(input: Tensor, q, dim: int = None, keepdim: bool = False, *, interpolation: str = "linear"):
    if input.dtype not in (torch.float32, torch.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    x = input.reshape(-1) if dim is None else input
    along = 0 if dim is None else library.wrap_dim(x, dim)
    if x.dim() == 0:
        x = x.reshape(1)
    if float(x.shape[along]) == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    values = torch.sort(x, along)[0]
    many = isinstance(q, (list, tuple))
    rows = []
    for one in q if many else [q]:
        if not isinstance(one, (int, float)):
            raise TypeError("quantile(): q must be numbers known before the run")
        row = quantile_at(values, along, one, interpolation)
        if dim is None and keepdim:
            row = row.reshape([1] * input.dim())
        rows.append(row if keepdim else row.squeeze(along))
    return torch.stack(rows, 0) if many else rows[0]


def search(name, boundaries, values, right, out_int32):
    """The number of boundaries below each value (or not above it)."""
    if boundaries.dim() == 0:
        raise RuntimeError(f"{name}(): boundaries tensor should have a dimension")
    if not torch.is_tensor(values):
        values = torch.tensor(values, dtype=boundaries.dtype)
    column = values.unsqueeze(-1)
    if boundaries.dim() > 1:
        if boundaries.dim() != values.dim():
            raise RuntimeError(f"{name}(): boundaries and values must have the same number of dimensions, or the boundaries one")
        boundaries = boundaries.unsqueeze(-2)
    below = boundaries <= column if right else boundaries < column
    # NaN sorts last, so every boundary counts as below it.
    if column.dtype.is_floating_point:
        below = below | torch.isnan(column)
    return below.sum(-1).to(torch.int32 if out_int32 else torch.int64)


@op("torch.searchsorted")
def searchsorted(sorted_sequence: Tensor, input: Scalar, *, out_int32: bool = False, right: bool = False, side: str = None):
    if side not in ("left", "right", None):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("searchsorted(): side and right can't be set to opposites, got side of left while right was True")
    return search("searchsorted", sorted_sequence, input, right or side == "right", out_int32)


@op("torch.bucketize")
def bucketize(input: Scalar, boundaries: Tensor, *, out_int32: bool = False, right: bool = False):
    return search("bucketize", boundaries, input, right, out_int32)


@op("torch.isin")
def isin(elements: Tensor, test_elements: Scalar, *, assume_unique=False, invert: bool = False):
    tests = test_elements
    if elements.dtype == torch.bool or (torch.is_tensor(tests) and tests.dtype == torch.bool):
        raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    if not torch.is_tensor(tests):
        tests = torch.tensor(tests, dtype=library.result_type(elements, tests))
    line = tests.reshape(-1)
    found = torch.any(elements.unsqueeze(-1) == line, -1)
    return ~found if invert else found
