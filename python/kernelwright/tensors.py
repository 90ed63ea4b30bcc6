"""Tensors of any library as the C interface sees them: torch and NumPy directly, others through DLPack, plain buffers.

Neither torch nor NumPy is imported here: a caller that passes a tensor has imported its library.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright import _library
from kernelwright.errors import InputError

CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13


@dataclass(frozen=True)
class DType:
    """One dtype with all its names."""

    name: str
    code: int
    bits: int
    torch: str
    numpy: str
    buffer: str  # struct's letter; "" = none
    lanes: int = 1

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.bits * self.lanes // 8


DTYPES = (
    DType("fp64", 2, 64, "float64", "float64", "d"),
    DType("fp32", 2, 32, "float32", "float32", "f"),
    DType("fp16", 2, 16, "float16", "float16", "e"),
    DType("bf16", 4, 16, "bfloat16", "bfloat16", ""),
    DType("fp8e4m3", 10, 8, "float8_e4m3fn", "float8_e4m3fn", ""),
    DType("fp8e5m2", 12, 8, "float8_e5m2", "float8_e5m2", ""),
    DType("e8m0", 14, 8, "float8_e8m0fnu", "float8_e8m0fnu", ""),
    DType("fp4e2m1x2", 17, 4, "float4_e2m1fn_x2", "", "", 2),
    DType("int64", 0, 64, "int64", "int64", "q"),
    DType("int32", 0, 32, "int32", "int32", "i"),
    DType("int16", 0, 16, "int16", "int16", "h"),
    DType("int8", 0, 8, "int8", "int8", "b"),
    DType("uint64", 1, 64, "uint64", "uint64", "Q"),
    DType("uint32", 1, 32, "uint32", "uint32", "I"),
    DType("uint16", 1, 16, "uint16", "uint16", "H"),
    DType("uint8", 1, 8, "uint8", "uint8", "B"),
    DType("bool", 6, 8, "bool", "bool", "?"),
)
BY_NAME = {one.name: one for one in DTYPES}
_BY_TORCH = {one.torch: one for one in DTYPES}
_BY_NUMPY = {one.numpy: one for one in DTYPES if one.numpy}
_BY_FORMAT = {one.buffer: one for one in DTYPES if one.buffer}
_BY_FORMAT.update({"l": BY_NAME["int64"], "L": BY_NAME["uint64"], "n": BY_NAME["int64"], "N": BY_NAME["uint64"]})
_BY_TYPE = {(one.code, one.bits, one.lanes): one for one in DTYPES}


@dataclass
class View:
    """A tensor as the library takes it. `owner` keeps its memory."""

    family: str  # "torch", "numpy", "dlpack" or "buffer"
    address: int
    device_type: int
    device_id: int
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    owner: Any

    @property
    def on_host(self) -> bool:
        """Whether the CPU can read its memory."""
        return self.device_type in (CPU, PINNED)

    def struct(self) -> _library.Tensor:
        """The C struct; it owns its arrays."""
        extents = (ctypes.c_int64 * len(self.shape))(*self.shape)
        strides = (ctypes.c_int64 * len(self.shape))(*self.strides)
        dtype = self.dtype
        return _library.Tensor(self.address, self.device_type, self.device_id, len(self.shape), dtype.code, dtype.bits,
                               dtype.lanes, extents, strides, 0)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor, not a number."""
    if isinstance(value, (bool, int, float, complex, str)) or value is None:
        return False
    return _is_torch(value) or _is_numpy(value) or hasattr(value, "__dlpack__") or _is_buffer(value)


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _is_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor, in elements."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return tuple(strides)


def view(name: str, value: Any) -> View:
    """Any tensor as a View. `name` is for messages."""
    if _is_torch(value):
        return _torch_view(name, value)
    if _is_numpy(value):
        return _numpy_view(name, value)
    if hasattr(value, "__dlpack__"):
        return _dlpack_view(name, value)
    if _is_buffer(value):
        return _buffer_view(name, value)
    raise InputError(f"{name!r} is {type(value).__name__}, not a tensor: pass a torch tensor, a NumPy array, anything "
                     "with __dlpack__, or a buffer")


def _torch_view(name: str, value: Any) -> View:
    dtype = _BY_TORCH.get(str(value.dtype).rpartition(".")[2])
    if dtype is None:
        raise InputError(f"{name!r} is {value.dtype}, which no kernel takes")
    kinds = {"cpu": CPU, "cuda": CUDA}
    if value.device.type not in kinds:
        raise InputError(f"{name!r} is on {value.device}; kernels run on CUDA devices and, virtually, on the CPU")
    if str(value.layout) != "torch.strided":
        raise InputError(f"{name!r} has layout {value.layout}; kernels take strided tensors")
    return View("torch", value.data_ptr(), kinds[value.device.type], value.device.index or 0, dtype,
                tuple(value.shape), tuple(value.stride()), value)


def _numpy_view(name: str, value: Any) -> View:
    dtype = _BY_NUMPY.get(value.dtype.name)
    if dtype is None:
        raise InputError(f"{name!r} is {value.dtype}, which no kernel takes")
    if not value.dtype.isnative:
        raise InputError(f"{name!r} has a foreign byte order; pass {name}.astype({name}.dtype.name)")
    if any(stride % value.itemsize for stride in value.strides):
        raise InputError(f"{name!r} has strides {value.strides}, not multiples of its element size; pass a copy")
    strides = tuple(stride // value.itemsize for stride in value.strides)
    return View("numpy", value.ctypes.data, CPU, 0, dtype, tuple(value.shape), strides, value)


def _dlpack_view(name: str, value: Any) -> View:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = value.__dlpack__()
    try:
        pointer = pointer_of(capsule, b"dltensor")
    except ValueError as error:
        raise InputError(f"{name!r} gives a DLPack capsule of an unknown kind") from error
    tensor = ctypes.cast(pointer, _library.TensorPointer).contents
    dtype = _BY_TYPE.get((tensor.type_code, tensor.type_bits, tensor.type_lanes))
    if dtype is None:
        raise InputError(f"{name!r} has a dtype that no kernel takes")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else dense_strides(shape)
    return View("dlpack", (tensor.data or 0) + tensor.byte_offset, tensor.device_type, tensor.device_id, dtype, shape,
                strides, (value, capsule))


def _buffer_view(name: str, value: Any) -> View:
    memory = memoryview(value)
    dtype = _BY_FORMAT.get(memory.format.lstrip("@="))
    if dtype is None or dtype.size != memory.itemsize:
        raise InputError(f"{name!r} is a buffer of format {memory.format!r}, which no kernel takes")
    if not memory.c_contiguous:
        raise InputError(f"{name!r} is a buffer that is not contiguous; pass a copy")
    bytes_of = memory.cast("B") if memory.nbytes else memory
    held: Any = bytearray(bytes_of) if memory.readonly else bytes_of
    address = ctypes.addressof(ctypes.c_char.from_buffer(held)) if memory.nbytes else 0
    shape = tuple(memory.shape or ())
    return View("buffer", address, CPU, 0, dtype, shape, dense_strides(shape), (memory, held))


def allocate(like: View, dtype: DType, shape: Sequence[int], strides: Sequence[int], elements: int) -> tuple[Any, View]:
    """An uninitialised tensor of the same library and device as `like`. `elements`: size of its storage."""
    if like.family == "torch" or not like.on_host:
        made = _allocate_torch(like, dtype, shape, strides)
    elif like.family == "buffer" or dtype.name not in _numpy_names():
        made = _allocate_buffer(dtype, shape, elements)
    else:
        made = _allocate_numpy(dtype, shape, strides, elements)
    return made, view("output", made)


def _numpy_names() -> set[str]:
    numpy = sys.modules.get("numpy")
    return {one.name for one in DTYPES if numpy is not None and one.numpy and hasattr(numpy, one.numpy)}


def _allocate_torch(like: View, dtype: DType, shape: Sequence[int], strides: Sequence[int]) -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        raise InputError("outputs on a GPU are allocated by torch; import torch first")
    device = torch.device("cuda", like.device_id) if not like.on_host else torch.device("cpu")
    kind = torch_dtype(torch, dtype.name)
    if strides:
        return torch.empty_strided(tuple(shape), tuple(strides), dtype=kind, device=device)
    return torch.empty(tuple(shape), dtype=kind, device=device)


def _allocate_numpy(dtype: DType, shape: Sequence[int], strides: Sequence[int], elements: int) -> Any:
    numpy = sys.modules["numpy"]
    kind = numpy.dtype(dtype.numpy)
    if not strides:
        return numpy.empty(tuple(shape), dtype=kind)
    storage = numpy.empty(elements, dtype=kind)
    return numpy.lib.stride_tricks.as_strided(storage, tuple(shape), tuple(s * kind.itemsize for s in strides))


def _allocate_buffer(dtype: DType, shape: Sequence[int], elements: int) -> Any:
    memory: Any = memoryview(bytearray(max(elements * dtype.size, 0)))
    letter = dtype.buffer or {1: "B", 2: "H"}[dtype.size]
    if 0 in shape:
        return memory.cast(letter)
    return memory.cast(letter, tuple(shape)) if shape else memory.cast(letter)


def torch_dtype(torch: Any, name: str) -> Any:
    """The dtype of torch for one of our names or one of torch's."""
    found = BY_NAME.get(name)
    dtype = getattr(torch, found.torch if found is not None else name, None)
    if not isinstance(dtype, torch.dtype):
        raise InputError(f"torch {torch.__version__} has no dtype {name!r}")
    return dtype


def as_torch(torch: Any, name: str, value: Any) -> Any:
    """A torch tensor with a value's dtype and shape."""
    if _is_torch(value):
        return value.detach()
    seen = view(name, value)
    return torch.zeros(seen.shape, dtype=torch_dtype(torch, seen.dtype.name))


def spec_text(name: str, value: Any) -> str:
    """An example as text for --input: fp16[4, 8]."""
    seen = view(name, value)
    return f"{seen.dtype.name}[{', '.join(map(str, seen.shape))}]"


def range_of(seen: View, value: Any) -> tuple[int, int] | None:
    """Smallest and largest of integers; None for other dtypes, and if the values cannot be read."""
    if seen.dtype.code not in (0, 1) or not seen.on_host or math.prod(seen.shape) == 0:
        return None
    if hasattr(value, "min") and hasattr(value, "max"):
        return int(value.min()), int(value.max())
    memory: Any = memoryview(value)
    items = list(memory.cast("B").cast(memory.format))
    return min(items), max(items)


def maker_text(seen: View, shape: Sequence[str], found: tuple[int, int] | None, below: str | None) -> str:
    """Python text that makes a tensor like an example; integers in its range, or from 0 to `below`."""
    extents, kind = f"({', '.join(shape)}{',' if len(shape) == 1 else ''})", f"torch.{seen.dtype.torch}"
    if found is not None:
        low, high = (0, below) if below is not None else (found[0], found[1] + 1)
        return f"torch.randint({low}, {high}, {extents}, dtype={kind})"
    if seen.dtype.name == "bool":
        return f"torch.randint(0, 2, {extents}).to({kind})"
    return f"torch.randn({extents}).to({kind})"
