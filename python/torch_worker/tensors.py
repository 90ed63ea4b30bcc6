"""Copies tensors to and from shared memory as raw bytes, so that every dtype works. Does not need NumPy."""
import ctypes
import os

import torch

from kw_torch_worker.failures import Failure

DTYPES = {
    "fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
    "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8,
    "uint8": torch.uint8, "bool": torch.bool,
}
# Dtypes that the oldest supported torch does not have.
for _name, _torch_name in (("fp8e4m3", "float8_e4m3fn"), ("fp8e5m2", "float8_e5m2"), ("e8m0", "float8_e8m0fnu"),
                           ("fp4e2m1x2", "float4_e2m1fn_x2"), ("uint64", "uint64"), ("uint32", "uint32"),
                           ("uint16", "uint16")):
    if hasattr(torch, _torch_name):
        DTYPES[_name] = getattr(torch, _torch_name)
NAMES = {dtype: name for name, dtype in DTYPES.items()}
CHUNK = 1 << 30  # one system call copies less than 2 GiB


def dtype_of(name):
    if name not in DTYPES:
        raise Failure("Unsupported", f"torch {torch.__version__} has no dtype for {name}")
    return DTYPES[name]


def name_of(dtype):
    if dtype not in NAMES:
        raise Failure("Unsupported", f"tensors of {dtype} cannot be passed on")
    return NAMES[dtype]


def _memory(tensor, count):
    return memoryview((ctypes.c_char * count).from_address(tensor.data_ptr())).cast("B")


def raw_bytes(tensor):
    """The bytes of a CPU tensor."""
    return bytes(_memory(tensor, tensor.numel() * tensor.element_size()))


def read(arena, described):
    """A new CPU tensor with bytes from the arena."""
    tensor = torch.empty(described["shape"], dtype=dtype_of(described["dtype"]), device="cpu")
    count = tensor.numel() * tensor.element_size()
    if count != described["bytes"]:
        raise Failure("BadArguments", f"{described['bytes']} bytes do not fit {described['dtype']}{described['shape']}")
    done = 0
    while done < count:
        part = _memory(tensor, count)[done:done + CHUNK]
        got = os.preadv(arena, [part], described["offset"] + done)
        if got <= 0:
            raise Failure("BadArguments", "the shared memory is smaller than the tensors of the request")
        done += got
    return tensor


def write(arena, named):
    """Writes (name, tensor) pairs to the arena, from its start; describes the place of each."""
    described, offset = [], 0
    for name, tensor in named:
        count = tensor.numel() * tensor.element_size()
        described.append({"name": name, "dtype": name_of(tensor.dtype), "shape": list(tensor.shape),
                          "offset": offset, "bytes": count})
        offset += (count + 63) // 64 * 64
    if arena is None:
        if described:
            raise Failure("BadArguments", "no shared memory came with the request")
        return described
    os.ftruncate(arena, max(offset, 1))
    for (_, tensor), place in zip(named, described):
        # A tensor of another device, a view, or a lazily conjugated or negated one becomes plain bytes here.
        plain = tensor.detach().resolve_conj().resolve_neg().to("cpu").contiguous()
        done = 0
        while done < place["bytes"]:
            part = _memory(plain, place["bytes"])[done:done + CHUNK]
            done += os.pwrite(arena, part, place["offset"] + done)
    return described
