"""Rarer functions of numbers: angles, gamma and Bessel functions, quantisation that keeps floats. Evaluated like a reference, by the same
rules; never run."""
import math

import torch
from aten import library
from kernelwright import op


def rounded(value, input):
    """Of the input's dtype; fp32 for integers."""
    return value.to(input.dtype if input.dtype.is_floating_point else torch.float32)


@op("torch.frac Tensor.frac")
def frac(input: FloatTensor):
    x = library.wide(input)
    return (x - torch.trunc(x)).to(input.dtype)


@op("torch.logit Tensor.logit torch.special.logit")
def logit(input: Tensor, eps: float = None):
    x = library.wide(input)
    if eps is not None:
        x = x.clamp(eps, 1 - eps)
    return rounded(torch.log(x / (1 - x)), input)


@op("torch.sinc Tensor.sinc torch.special.sinc")
def sinc(input: Tensor):
    x = library.wide(input)
    angle = x * math.pi
    ratio = torch.sin(angle) / angle
    return rounded(torch.where(x == 0, 1.0, ratio), input)


@op("torch.nan_to_num Tensor.nan_to_num")
def nan_to_num(input: Tensor, nan: float = None, posinf: float = None, neginf: float = None):
    if not input.dtype.is_floating_point:
        return input
    limit = torch.finfo(input.dtype).max
    rest = torch.where(input == float("-inf"), -limit if neginf is None else neginf, input)
    finite = torch.where(input == float("inf"), limit if posinf is None else posinf, rest)
    return torch.where(torch.isnan(input), 0.0 if nan is None else nan, finite)


@op("torch.angle Tensor.angle")
def angle(input: Tensor):
    x = library.wide(input)
    half_turn = torch.tensor(math.pi, dtype=x.dtype)
    known = torch.where(x < 0, half_turn, 0.0)
    return rounded(torch.where(torch.isnan(x), float("nan"), known), input)


@op("torch.deg2rad Tensor.deg2rad")
def deg2rad(input: Tensor):
    return rounded(library.wide(input) * (math.pi / 180), input)


@op("torch.rad2deg Tensor.rad2deg")
def rad2deg(input: Tensor):
    return rounded(library.wide(input) * (180 / math.pi), input)


def polygamma_of(n, input):
    if float(n) != 0:
        raise RuntimeError("polygamma(n, input) is supported for n = 0 (digamma) only")
    return torch.digamma(input if input.dtype.is_floating_point else input.float())


@op("torch.polygamma torch.special.polygamma")
def polygamma(n: int, input: Tensor):
    return polygamma_of(n, input)


@op("Tensor.polygamma")
def tensor_polygamma(input: Tensor, n: int):
    return polygamma_of(n, input)


@op("torch.mvlgamma Tensor.mvlgamma torch.special.multigammaln")
def mvlgamma(input: Tensor, p: int):
    """The log of the multivariate gamma function is a sum of lgammas."""
    if float(p) < 1 or float(p) > 64:
        raise RuntimeError("mvlgamma(): p has to be between 1 and 64")
    x = library.wide(input)
    total = torch.lgamma(x)
    for j in range(1, p):
        total = total + torch.lgamma(x - j / 2)
    return rounded(total if p == 1 else total + math.log(math.pi) * 0.25 * (p * (p - 1)), input)


@op("torch.special.entr")
def entr(input: Tensor):
    x = library.wide(input)
    log = torch.log(x)
    product = -x * log
    below = torch.where(x < 0, float("-inf"), product)
    inside = torch.where(x == 0, 0.0, below)
    return rounded(torch.where(torch.isnan(x), float("nan"), inside), input)


@op("torch.special.ndtr")
def ndtr(input: Tensor):
    return rounded(torch.erfc(library.wide(input) * -math.sqrt(2) / 2) * 0.5, input)


@op("torch.special.ndtri")
def ndtri(input: Tensor):
    return rounded(torch.erfinv(library.wide(input) * 2 - 1) * math.sqrt(2), input)


def bessel(name, input, first_order, scaled):
    """The modified Bessel functions are means of exp(x cos t) over a period; for order 1, times cos t. With equally spaced points the mean
    converges faster than any power. 256 points are exact to fp64 over its range."""
    x = input if input.dtype.is_floating_point else input.float()
    if x.dtype not in (torch.float32, torch.float64):
        raise RuntimeError(f"\"{name}\" not implemented for '{library.type_word(x)}'")
    column = x.unsqueeze(-1)
    cosine = torch.cos(library.positions([256], 0, x.dtype) * (2 * math.pi / 256))
    power = column * cosine
    values = torch.exp(power - torch.abs(column) if scaled else power)
    return (values * cosine if first_order else values).mean(-1)


@op("torch.i0 Tensor.i0 torch.special.i0")
def i0(input: Tensor):
    return bessel("i0", input, False, False)


@op("torch.special.i0e")
def i0e(input: Tensor):
    return bessel("i0e", input, False, True)


@op("torch.special.i1")
def i1(input: Tensor):
    return bessel("i1", input, True, False)


@op("torch.special.i1e")
def i1e(input: Tensor):
    return bessel("i1e", input, True, True)


@op("torch.heaviside Tensor.heaviside")
def heaviside(input: Tensor, values: Tensor):
    if input.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    above = (input > 0).to(input.dtype)
    return torch.where(input == 0, values, above).to(input.dtype)


def quantised(x, scale, zero, low, high):
    """Rounds to whole steps of `scale` around `zero`, and converts back."""
    steps = torch.round(x * (1.0 / scale)) + zero
    return (steps.clamp(low, high) - zero) * scale


def converted(x, dtype):
    return x.to(dtype) if torch.is_tensor(x) else torch.tensor(x, dtype=dtype)


@op("torch.fake_quantize_per_tensor_affine")
def fake_quantize_per_tensor_affine(input: FloatTensor, scale: Scalar, zero_point: Scalar, quant_min: float, quant_max: float):
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")
    work = torch.float64 if input.dtype == torch.float64 else torch.float32
    zero = converted(zero_point, work)
    step = converted(scale, work)
    return quantised(input.to(work), step, zero, quant_min, quant_max).to(input.dtype)


@op("torch.fake_quantize_per_channel_affine")
def fake_quantize_per_channel_affine(input: FloatTensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: float, quant_max: float):
    axis = library.wrap_dim(input, axis)
    if input.dim() == 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions")
    shape = [input.shape[axis] if i == axis else 1 for i in range(input.dim())]
    work = torch.float64 if input.dtype == torch.float64 else torch.float32
    step = scale.reshape(shape).to(work)
    zero = zero_point.reshape(shape).to(work)
    return quantised(input.to(work), step, zero, quant_min, quant_max).to(input.dtype)
