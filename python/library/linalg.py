"""Products of matrices and vectors that are made of others. Evaluated like a reference, by the same rules; never run.

kron and cross are elementwise, since a matmul would do useless work. multi_dot multiplies from left to right, while PyTorch chooses the
cheapest order; only roundings differ.
"""
import torch
from aten import library
from kernelwright import op


def chained(tensors):
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors")
    product = tensors[0]
    for x in tensors[1:]:
        product = product @ x
    return product


@op("torch.linalg.multi_dot")
def multi_dot(tensors: Tensors):
    return chained(tensors)


@op("torch.chain_matmul")
def chain_matmul(*tensors: Tensors):
    return chained(tensors)


@op("torch.matrix_power Tensor.matrix_power torch.linalg.matrix_power")
def matrix_power(input: Tensor, n: int):
    if float(n) < 1 or float(n) > 64:
        raise RuntimeError("matrix_power(): powers from 1 to 64 are supported")
    product = input
    for _ in range(1, n):
        product = product @ input
    return product


@op("torch.kron Tensor.kron")
def kron(input: Tensor, other: Tensor):
    """Every block of the result is one element of the first times the whole second."""
    rank = max(input.dim(), other.dim())
    left = [1] * (rank - input.dim()) + list(input.shape)
    right = [1] * (rank - other.dim()) + list(other.shape)
    blocks = other.reshape([extent for n in right for extent in (1, n)])
    product = input.reshape([extent for n in left for extent in (n, 1)]) * blocks
    return product.reshape([m * n for m, n in zip(left, right)])


def crossed(input, other, dim):
    a, b = torch.broadcast_tensors(input, other)
    if dim is None:
        dim = ([i for i, n in enumerate(a.shape) if float(n) == 3] + [-1])[0]
    else:
        dim = library.wrap_dim(a, dim)
    if a.dim() == 0 or dim < 0 or float(a.shape[dim]) != 3:
        raise RuntimeError("linalg.cross: inputs dimension must have length 3")
    ahead_a, ahead_b = torch.roll(a, -1, dim), torch.roll(b, -1, dim)
    behind_a, behind_b = torch.roll(a, 1, dim), torch.roll(b, 1, dim)
    dtype = library.result_type(a, b)
    work = dtype if dtype not in (torch.float16, torch.bfloat16) else torch.float32
    last = behind_b.to(work)
    plus = ahead_a.to(work) * last
    last = ahead_b.to(work)
    return (plus - behind_a.to(work) * last).to(dtype)


@op("torch.cross Tensor.cross")
def cross(input: Tensor, other: Tensor, dim: int = None):
    return crossed(input, other, dim)


@op("torch.linalg.cross")
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1):
    return crossed(input, other, dim)


@op("torch.trace Tensor.trace")
def trace(input: Tensor):
    if input.dim() != 2:
        raise RuntimeError("trace: expected a matrix")
    return torch.diagonal(input).sum()


@op("torch.dist Tensor.dist")
def dist(input: Tensor, other: Tensor, p: float = 2):
    return torch.linalg.vector_norm(input - other, p)


@op("torch.norm Tensor.norm")
def norm(input: Tensor, p="fro", dim=None, keepdim: bool = False, dtype=None):
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm(p='{p}') is not supported; numbers and 'fro' are")
    return torch.linalg.vector_norm(input, 2 if p is None or p == "fro" else p, dim, keepdim, dtype=dtype)


def norm_of_matrix(name, input, ord, dim, keepdim, dtype):
    """Frobenius, and sums of magnitudes along rows or columns."""
    if dim is None:
        dim = (-2, -1) if input.dim() >= 2 else ()
    dims = [library.wrap_dim(input, one) for one in (dim if isinstance(dim, (list, tuple)) else [dim])]
    if len(dims) != 2 or dims[0] == dims[1]:
        raise RuntimeError(f"{name}(): a matrix norm needs two different dims")
    if ord is None or ord == "fro":
        return torch.linalg.vector_norm(input, 2, dims, keepdim, dtype=dtype)
    if isinstance(ord, str) or abs(ord) not in (1, float("inf")):
        raise RuntimeError(f"{name}(): of the matrix norms 'fro', 1, -1, inf and -inf are supported; the others need singular values")
    summed, picked = (1, 0) if abs(ord) == float("inf") else (0, 1)
    sums = torch.abs(input).sum(dims[summed], keepdim=True)
    found = (torch.amax if ord > 0 else torch.amin)(sums, dims[picked], keepdim=True)
    return found if keepdim else found.reshape([n for i, n in enumerate(found.shape) if i not in dims])


@op("torch.linalg.matrix_norm")
def matrix_norm(input: Tensor, ord="fro", dim=None, keepdim: bool = False, *, dtype=None):
    return norm_of_matrix("matrix_norm", input, ord, dim, keepdim, dtype)


@op("torch.linalg.norm")
def linalg_norm(input: Tensor, ord=None, dim=None, keepdim: bool = False, *, dtype=None):
    """One dim, or one that is meant: a vector norm."""
    one_dim = not isinstance(dim, (list, tuple)) or len(dim) == 1
    if input.dim() == 1 or ord is None if dim is None else one_dim:
        return torch.linalg.vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return norm_of_matrix("norm", input, ord, dim, keepdim, dtype)
