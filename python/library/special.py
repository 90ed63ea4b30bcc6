"""Rarer functions of numbers: Bessel functions, steps, quantisation that keeps floats. Evaluated like a reference, by the same rules; never run."""
import math

import torch
from aten import library
from kernelwright import op


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
