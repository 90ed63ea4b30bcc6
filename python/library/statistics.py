"""Statistics and small functions of linear algebra. Evaluated like a reference, by the same rules; never run.

PyTorch composes most of them from other operators, too, so each follows that composition with its roundings.
"""
import torch
import torch.nn.functional as F
from aten import library
from kernelwright import op


def floating(x):
    return x if x.dtype.is_floating_point else x.float()


def covariance(name, input, correction):
    """Rows are variables, columns are observations."""
    if input.dim() > 2:
        raise RuntimeError(f"{name}(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")
    x = floating(input)
    if input.dim() < 2:
        x = x.reshape(1, -1)
    centred = x - x.mean(1, keepdim=True)
    result = centred @ centred.permute(1, 0) / max(x.shape[1] - correction, 0.0)
    return result if input.dim() == 2 else result.reshape([])


@op("torch.cov Tensor.cov")
def cov(input: Tensor, *, correction: float = 1, fweights=None, aweights=None):
    if fweights is not None or aweights is not None:
        raise ValueError("cov(): weights are not supported; scale the observations instead")
    return covariance("cov", input, correction)


@op("torch.corrcoef Tensor.corrcoef")
def corrcoef(input: Tensor):
    c = covariance("corrcoef", input, 1.0)
    if c.dim() == 0:
        return c / c
    deviations = torch.sqrt(torch.diagonal(c))
    column = deviations.unsqueeze(1)
    return (c / column / deviations).clamp(-1.0, 1.0)


def neighbours(x, dim):
    """The elements before the last, and those after the first."""
    extent = x.shape[dim]
    first = min(1, extent)
    return x.narrow(dim, 0, extent - 1 if float(extent) > 0 else extent), x.narrow(dim, first, extent - first)


def areas(y, x, dx, dim):
    """Between neighbours: (left + right) / 2 times the distance."""
    if y.dim() == 0:
        raise RuntimeError("trapezoid(): y must have at least one dimension")
    y = floating(y)
    left, right = neighbours(y, dim)
    area = left + right
    if x is None:
        return area * ((1.0 if dx is None else dx) / 2)
    if x.dim() != 1 and x.dim() != y.dim():
        raise RuntimeError("trapezoid(): x must have one dimension or those of y")
    if x.dim() == 1:
        x = x.reshape([x.shape[0] if i == dim else 1 for i in range(y.dim())])
    before, after = neighbours(x, dim)
    return area * (after - before) / 2.0


@op("torch.trapezoid torch.trapz")
def trapezoid(y: Tensor, x: Tensor = None, *, dx: float = None, dim: int = -1):
    dim = library.wrap_dim(y, dim)
    return areas(y, x, dx, dim).sum(dim)


@op("torch.cumulative_trapezoid")
def cumulative_trapezoid(y: Tensor, x: Tensor = None, *, dx: float = None, dim: int = -1):
    dim = library.wrap_dim(y, dim)
    return torch.cumsum(areas(y, x, dx, dim), dim)


@op("torch.diff Tensor.diff")
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor = None, append: Tensor = None):
    """Differences of neighbours, n times."""
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if float(n) < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = library.wrap_dim(input, dim)
    parts = [x for x in (prepend, input, append) if x is not None]
    x = torch.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        extent = x.shape[dim]
        if extent < 1:
            break
        later = library.slice(x, dim, 1, extent)
        earlier = library.slice(x, dim, 0, extent - 1)
        x = later != earlier if x.dtype == torch.bool else later - earlier
    return x


@op("torch.renorm Tensor.renorm")
def renorm(input: FloatTensor, p: float, dim: int, maxnorm: float):
    """Slices along a dim whose norm is above the limit are scaled down to it."""
    if input.dim() < 2:
        raise RuntimeError("renorm: input needs at least 2 dimensions")
    dim = library.wrap_dim(input, dim)
    w = library.wide(input)
    norm = torch.linalg.vector_norm(w, p, [i for i in range(input.dim()) if i != dim], keepdim=True)
    scaled = w * (maxnorm / (norm + 1e-7))
    return torch.where(norm > maxnorm, scaled, w).to(input.dtype)


def powers(x, N, increasing):
    """Powers of each element, one column each."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    columns = x.shape[0] if N is None else N
    if float(columns) < 0:
        raise RuntimeError("N must be non-negative.")
    dtype = x.dtype if x.dtype.is_floating_point else torch.int64
    exponents = library.positions([columns], 0)
    if not increasing:
        exponents = columns - 1 - exponents
    column = x.to(dtype).unsqueeze(1)
    return torch.pow(column, exponents.to(dtype)).to(dtype)


@op("torch.vander")
def vander(x: Tensor, N: int = None, increasing: bool = False):
    return powers(x, N, increasing)


@op("torch.linalg.vander")
def linalg_vander(x: Tensor, *, N: int = None, increasing: bool = True):
    return powers(x, N, increasing)


@op("torch.nanmedian Tensor.nanmedian")
def nanmedian(input: Tensor, dim: int = None, keepdim: bool = False):
    """NaN sorts last: takes the middle of the values before the NaNs."""
    x = input.reshape(-1) if dim is None or input.dim() == 0 else input
    along = 0 if dim is None else library.wrap_dim(x, dim)
    if float(x.shape[along]) == 0:
        raise RuntimeError("nanmedian(): Expected reduction dim to have non-zero size.")
    values, indices = torch.sort(x, along)
    real = ~torch.isnan(x) if x.dtype.is_floating_point else x == x
    count = real.sum(along, keepdim=True)
    middle = torch.maximum(count - 1, 0) // 2
    value, index = torch.gather(values, along, middle), torch.gather(indices, along, middle)
    if dim is None:
        return value.reshape([])
    return library.values_and_indices(value if keepdim else value.squeeze(along), index if keepdim else index.squeeze(along))


@op("torch.cdist")
def cdist(x1: FloatTensor, x2: FloatTensor, p: float = 2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distance of every row of x1 to every row of x2."""
    if x1.dim() < 2 or x2.dim() < 2:
        raise RuntimeError("cdist only supports at least 2D tensors")
    if float(x1.shape[-1]) != float(x2.shape[-1]):
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if p == 2 and multiplies(x1, x2, compute_mode):
        rows = (x1 * x1).sum(-1, keepdim=True)
        across = (x2 * x2).sum(-1, keepdim=True).transpose(-1, -2)
        product = x1 @ x2.transpose(-1, -2)
        return torch.sqrt(torch.maximum(rows - 2 * product + across, 0))
    gap = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.linalg.vector_norm(gap, p, -1)


def multiplies(x1, x2, compute_mode):
    """Whether PyTorch uses the product |x|^2 - 2 x y + |y|^2, which is less exact than differences: from 26 rows on."""
    if compute_mode not in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist_if_necessary"):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if compute_mode != "use_mm_for_euclid_dist_if_necessary":
        return compute_mode == "use_mm_for_euclid_dist"
    return not x1.shape[-2] <= 25 or not x2.shape[-2] <= 25
