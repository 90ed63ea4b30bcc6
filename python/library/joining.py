"""Tensors joined, split and arranged. Evaluated like a reference, by the same rules; never run."""
import torch
import torch.nn.functional as F
from kernelwright import op


def at_least(x, rank):
    """A vector becomes one row; a matrix gets a last dim."""
    if x.dim() >= rank:
        return x
    if x.dim() == 0:
        return x.reshape([1] * rank)
    if rank == 2:
        return x.reshape(1, x.shape[0])
    return x.reshape(1, x.shape[0], 1) if x.dim() == 1 else x.reshape(x.shape[0], x.shape[1], 1)


def all_at_least(tensors, rank):
    results = [at_least(x, rank) for x in tensors]
    return results[0] if len(results) == 1 else tuple(results)


@op("torch.atleast_1d")
def atleast_1d(*tensors: Tensors):
    return all_at_least(tensors, 1)


@op("torch.atleast_2d")
def atleast_2d(*tensors: Tensors):
    return all_at_least(tensors, 2)


@op("torch.atleast_3d")
def atleast_3d(*tensors: Tensors):
    return all_at_least(tensors, 3)


def stacked(name, tensors, rank, dim):
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    tensors = [at_least(x, rank) for x in tensors]
    return torch.cat(tensors, 0 if tensors[0].dim() == 1 else dim)


@op("torch.hstack")
def hstack(tensors: Tensors):
    return stacked("hstack", tensors, 1, 1)


@op("torch.vstack torch.row_stack")
def vstack(tensors: Tensors):
    return stacked("vstack", tensors, 2, 0)


@op("torch.dstack")
def dstack(tensors: Tensors):
    return stacked("dstack", tensors, 3, 2)


@op("torch.column_stack")
def column_stack(tensors: Tensors):
    return stacked("column_stack", [x if x.dim() > 1 else x.reshape(x.numel(), 1) for x in tensors], 2, 1)


def split_along(name, input, places, dim):
    if input.dim() <= dim:
        raise RuntimeError(f"{name} requires a tensor with at least {dim + 1} dimension(s), but got a tensor with {input.dim()} dimensions!")
    if not isinstance(places, (int, list, tuple)):
        raise TypeError(f"{name}(): argument 'indices_or_sections' must be int or a tuple of ints")
    return torch.tensor_split(input, places, dim)


@op("torch.vsplit Tensor.vsplit")
def vsplit(input: Tensor, indices_or_sections):
    return split_along("vsplit", input, indices_or_sections, 0)


@op("torch.hsplit Tensor.hsplit")
def hsplit(input: Tensor, indices_or_sections):
    return split_along("hsplit", input, indices_or_sections, 0 if input.dim() < 2 else 1)


@op("torch.dsplit Tensor.dsplit")
def dsplit(input: Tensor, indices_or_sections):
    return split_along("dsplit", input, indices_or_sections, 2)


def spread(x, i, shape):
    """A vector along dim i, expanded to the shape."""
    return x.reshape([n if i == j else 1 for j, n in enumerate(shape)]).expand(shape)


@op("torch.meshgrid")
def meshgrid(*tensors: Tensors, indexing: str = None):
    if indexing not in ("ij", "xy", None):
        raise RuntimeError(f"torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}")
    if any([x.dim() > 1 for x in tensors]):
        raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list")
    swapped = indexing == "xy" and len(tensors) >= 2
    shape = [x.numel() for x in tensors]
    results = []
    for i, x in enumerate(tensors):
        x = spread(x, i, shape)
        results.append(x.transpose(0, 1) if swapped else x)
    return tuple(results)


@op("torch.cartesian_prod")
def cartesian_prod(*tensors: Tensors):
    if not tensors:
        raise RuntimeError("cartesian_prod(): expected at least one tensor")
    if any([x.dim() != 1 for x in tensors]):
        raise RuntimeError("Expect a 1D vector, but got another shape")
    if len(tensors) == 1:
        return tensors[0]
    shape = [x.numel() for x in tensors]
    return torch.stack([spread(x, i, shape).reshape(-1) for i, x in enumerate(tensors)], 1)


@op("torch.block_diag")
def block_diag(*tensors: Tensors):
    """Matrices along the diagonal of a larger one."""
    if not tensors:
        raise RuntimeError("block_diag(): expected at least one tensor")
    if any([x.dim() > 2 for x in tensors]):
        raise RuntimeError("torch.block_diag: Input tensors must have 2 or fewer dimensions")
    tensors = [at_least(x, 2) for x in tensors]
    width = sum([x.shape[1] for x in tensors])
    rows, before = [], 0
    for x in tensors:
        rows.append(F.pad(x, (before, width - before - x.shape[1])))
        before = before + x.shape[1]
    return torch.cat(rows, 0)
