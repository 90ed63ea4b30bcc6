"""The activation functions of torch.nn.functional. Evaluated like a reference, by the same rules; never run.

Each uses the formula of PyTorch's kernel, not the shortest one: results for NaN, infinities and at breakpoints must agree. Formulas compute
wide and round once, as the kernels do. Those that PyTorch writes in Python round after every step.
"""
import math

import torch
import torch.nn.functional as F
from aten import library
from kernelwright import op

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def clamped(name, x, low, high=None):
    if x.dtype == torch.bool:
        raise RuntimeError(f"\"{name}\" not implemented for 'Bool'")
    whole = not x.dtype.is_floating_point
    x = torch.maximum(x, int(low) if whole else low)
    return x if high is None else torch.minimum(x, int(high) if whole else high)


@op("F.relu")
def relu(input: Tensor, inplace=False):
    return clamped("relu", input, 0.0)


@op("torch.relu Tensor.relu")
def torch_relu(input: Tensor):
    return clamped("relu", input, 0.0)


@op("F.relu6")
def relu6(input: Tensor, inplace=False):
    return clamped("relu6", input, 0.0, 6.0)


@op("F.hardtanh")
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace=False):
    if input.dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64) and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    if min_val > max_val:
        raise RuntimeError("hardtanh(): min_val cannot be greater than max_val")
    return clamped("hardtanh", input, min_val, None if max_val == float("inf") else max_val)


@op("F.threshold torch.threshold")
def threshold(input: Tensor, threshold: Scalar, value: Scalar, inplace=False):
    if input.dtype == torch.bool:
        raise RuntimeError("\"threshold\" not implemented for 'Bool'")
    return torch.where(input <= threshold, value, input).to(input.dtype)


def exponential_unit(input, alpha, scale=1, inner=1):
    x = library.wide(input)
    below = torch.expm1(x if inner == 1 else x * inner) * (alpha * scale)
    above = x if scale == 1 else x * scale
    return torch.where(x <= 0, below, above).to(input.dtype)


@op("F.elu")
def elu(input: FloatTensor, alpha: float = 1.0, inplace=False):
    return exponential_unit(input, alpha)


@op("aten.elu")
def general_elu(input: FloatTensor, alpha: float = 1, scale: float = 1, input_scale: float = 1):
    return exponential_unit(input, alpha, scale, input_scale)


@op("torch.selu")
def torch_selu(input: FloatTensor):
    return exponential_unit(input, SELU_ALPHA, SELU_SCALE)


@op("F.selu")
def selu(input: FloatTensor, inplace=False):
    return exponential_unit(input, SELU_ALPHA, SELU_SCALE)


@op("F.celu torch.celu")
def celu(input: FloatTensor, alpha: float = 1.0, inplace=False):
    if alpha == 0:
        raise ZeroDivisionError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return exponential_unit(input, alpha, 1, 1 / alpha)


def leaky(input, slope):
    x = library.wide(input)
    below = x * slope
    return torch.where(x > 0, x, below).to(input.dtype)


@op("F.leaky_relu")
def leaky_relu(input: FloatTensor, negative_slope: float = 0.01, inplace=False):
    return leaky(input, negative_slope)


@op("F.rrelu torch.rrelu")
def rrelu(input: FloatTensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False, inplace=False):
    """Outside of training the slope is the middle of its range."""
    if training:
        raise RuntimeError("rrelu(training=True) draws its slopes at random: only training=False (the default) has one right answer")
    return leaky(input, (lower + upper) / 2)


@op("F.prelu torch.prelu Tensor.prelu")
def prelu(input: FloatTensor, weight: FloatTensor):
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    shape = [1] * input.dim()
    if float(weight.numel()) != 1:
        channels = input.shape[1] if input.dim() >= 2 else 1
        if float(weight.numel()) != float(channels):
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{weight.numel()} and channel size = {channels}.")
        shape[1] = channels
    slope = weight.reshape(shape)
    x = library.wide(input)
    below = library.wide(slope) * x
    above = library.wide(input)
    return torch.where(input > 0, above, below).to(input.dtype)


@op("F.gelu")
def gelu(input: FloatTensor, *, approximate: str = "none"):
    x = library.wide(input)
    if approximate == "none":
        share = 1 + torch.erf(x * (math.sqrt(2) / 2))
    elif approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * (math.sqrt(2) * (1 / math.sqrt(math.pi)))
        share = 1 + torch.tanh(inner)
    else:
        raise RuntimeError("approximate argument must be either none or tanh.")
    return (x * 0.5 * share).to(input.dtype)


@op("F.silu")
def silu(input: FloatTensor, inplace=False):
    x = library.wide(input)
    return (x * torch.sigmoid(x)).to(input.dtype)


@op("F.mish")
def mish(input: FloatTensor, inplace=False):
    x = library.wide(input)
    return (x * torch.tanh(torch.log1p(torch.exp(x)))).to(input.dtype)


@op("F.hardsigmoid")
def hardsigmoid(input: FloatTensor, inplace=False):
    return ((library.wide(input) + 3.0).clamp(0.0, 6.0) / 6.0).to(input.dtype)


@op("F.hardswish")
def hardswish(input: FloatTensor, inplace=False):
    x = library.wide(input)
    return (x * (x + 3.0).clamp(0.0, 6.0) / 6.0).to(input.dtype)


@op("F.logsigmoid")
def logsigmoid(input: FloatTensor):
    x = library.wide(input)
    rest = torch.log1p(torch.exp(-torch.abs(x)))
    return (torch.minimum(x, 0.0) - rest).to(input.dtype)


@op("aten.log_sigmoid_forward")
def log_sigmoid_forward(input: FloatTensor):
    """The second result is for the backward pass only."""
    result = logsigmoid(input)
    return result, result


@op("F.softplus")
def softplus(input: FloatTensor, beta: float = 1.0, threshold: float = 20.0):
    x = library.wide(input)
    scaled = x if beta == 1 else x * beta
    soft = torch.log1p(torch.exp(scaled))
    below = soft if beta == 1 else soft / beta
    return torch.where(scaled > threshold, x, below).to(input.dtype)


@op("F.softsign")
def softsign(input: Tensor):
    return input / (torch.abs(input) + 1)


@op("F.tanhshrink")
def tanhshrink(input: Tensor):
    return input - torch.tanh(input)


@op("F.hardshrink torch.hardshrink Tensor.hardshrink")
def hardshrink(input: FloatTensor, lambd: float = 0.5):
    x = library.wide(input)
    below = x <= lambd
    return torch.where((x >= -lambd) & below, 0.0, x).to(input.dtype)


@op("F.softshrink")
def softshrink(input: FloatTensor, lambd: float = 0.5):
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}")
    x = library.wide(input)
    none = x * 0.0
    raised = x + lambd
    rest = torch.where(x < -lambd, raised, none)
    lowered = x - lambd
    return torch.where(x > lambd, lowered, rest).to(input.dtype)


@op("F.glu")
def glu(input: FloatTensor, dim: int = -1):
    if input.dim() == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = library.wrap_dim(input, dim)
    extent = input.shape[dim]
    library.need_multiple(extent, 2, f"Halving dimension must be even, but dimension {dim} is size {extent}")
    half = extent // 2
    a, b = library.slice(input, dim, 0, half), library.slice(input, dim, half, half + half)
    gate = torch.sigmoid(library.wide(b))
    return (library.wide(a) * gate).to(input.dtype)
