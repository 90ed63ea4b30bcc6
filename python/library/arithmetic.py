"""Functions of two or three operands that are made of others. Evaluated like a reference, by the same rules; never run.

Operands promote as in PyTorch; half types are computed wide and rounded once.
"""
import math

import torch
from aten import library
from kernelwright import op


def work_type(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def converted(x, dtype):
    return x.to(dtype) if torch.is_tensor(x) else torch.tensor(x, dtype=dtype)


def x_log_y(input, other, log):
    """The result is 0 if x is 0, unless y is NaN."""
    dtype = library.result_type(input, other)
    if not torch.is_tensor(input) and not torch.is_tensor(other):
        input = torch.tensor(input, dtype=dtype)
    dtype = dtype if dtype.is_floating_point else torch.float32
    x, y = converted(input, work_type(dtype)), converted(other, work_type(dtype))
    product = x * log(y)
    known = torch.where(x == 0, 0.0, product)
    return torch.where(torch.isnan(y), float("nan"), known).to(dtype)


@op("torch.xlogy Tensor.xlogy torch.special.xlogy")
def xlogy(input: Scalar, other: Scalar):
    return x_log_y(input, other, torch.log)


@op("torch.special.xlog1py")
def xlog1py(input: Scalar, other: Scalar):
    return x_log_y(input, other, torch.log1p)


def log_add_exp(name, input, other, rest_of):
    dtype = library.result_type(input, other)
    if not dtype.is_floating_point:
        raise RuntimeError(f"\"{name}\" not implemented for '{library.type_word(input)}'")
    a, b = input.to(work_type(dtype)), other.to(work_type(dtype))
    gap = -torch.abs(a - b)
    high = torch.maximum(a, b)
    total = high + rest_of(gap)
    same = a == b
    return torch.where(torch.isinf(a) & same, a, total).to(dtype)


@op("torch.logaddexp Tensor.logaddexp")
def logaddexp(input: Tensor, other: Tensor):
    return log_add_exp("logaddexp", input, other, lambda gap: torch.log1p(torch.exp(gap)))


@op("torch.logaddexp2 Tensor.logaddexp2")
def logaddexp2(input: Tensor, other: Tensor):
    return log_add_exp("logaddexp2", input, other, lambda gap: torch.log1p(torch.exp2(gap)) * 1.4426950408889634)


@op("torch.ldexp Tensor.ldexp")
def ldexp(input: Scalar, other: Scalar):
    dtype = library.result_type(input, other)
    if not torch.is_tensor(input) and not torch.is_tensor(other):
        input = torch.tensor(input, dtype=dtype)
    dtype = dtype if dtype.is_floating_point else torch.float32
    power = torch.exp2(other.to(work_type(dtype))) if torch.is_tensor(other) else math.exp2(other)
    return ((input.to(work_type(dtype)) if torch.is_tensor(input) else input) * power).to(dtype)


@op("torch.lerp Tensor.lerp")
def lerp(input: FloatTensor, end: FloatTensor, weight: Scalar):
    if end.dtype != input.dtype or (torch.is_tensor(weight) and weight.dtype != input.dtype):
        raise RuntimeError(f"lerp(): expected dtype {library.type_word(input)} for `end` and `weight`")
    a, b = library.wide(input), library.wide(end)
    if not torch.is_tensor(weight):
        # The other formula only rounds differently, so a number that varies between calls takes this one.
        near = library.follows(weight) or abs(weight) < 0.5
        return (a + (b - a) * weight if near else b - (b - a) * (1 - weight)).to(input.dtype)
    w = library.wide(weight)
    rest = 1 - w
    high = b - (b - a) * rest
    low = a + (b - a) * w
    return torch.where(torch.abs(w) < 0.5, low, high).to(input.dtype)


def add_product(name, input, tensor1, tensor2, value, combine):
    dtype = library.result_type(input, tensor1, tensor2)
    if dtype == torch.bool:
        raise RuntimeError(f"\"{name}\" not implemented for 'Bool'")
    work = dtype if dtype not in (torch.float16, torch.bfloat16) else torch.float32
    a, b = tensor1.to(work), tensor2.to(work)
    change = combine(a, b)
    if torch.is_tensor(value) or value != 1:
        change = change * converted(value, work)
    return (input.to(work) + change).to(dtype)


@op("torch.addcmul Tensor.addcmul")
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1):
    return add_product("addcmul", input, tensor1, tensor2, value, lambda a, b: a * b)


@op("torch.addcdiv Tensor.addcdiv")
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1):
    if not library.result_type(tensor1, tensor2).is_floating_point:
        raise RuntimeError("Integer division with addcdiv is no longer supported")
    return add_product("addcdiv", input, tensor1, tensor2, value, lambda a, b: a / b)


@op("torch.isclose Tensor.isclose")
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    a, b = input, other
    if a.dtype != b.dtype:
        raise RuntimeError(f"{library.type_word(a)} did not match {library.type_word(b)}")
    close = a == b
    if not a.dtype.is_floating_point:
        x, y = a.double(), b.double()
        limit = torch.abs(y * rtol) + atol
        return close | (torch.abs(x - y) <= limit)

    def finite(x):
        none = torch.isnan(x)
        return ~(torch.isinf(x) | none)

    if equal_nan:
        none = torch.isnan(b)
        close = close | (torch.isnan(a) & none)
    others = finite(a)
    both = finite(b) & others
    limit = torch.abs(library.wide(b) * rtol) + atol
    y = library.wide(b)
    return close | (both & (torch.abs(library.wide(a) - y) <= limit))
