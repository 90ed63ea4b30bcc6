"""Extensions that a candidate builds with torch.utils.cpp_extension. Another process compiles their sources; the result is
loaded into this process, where it finds only the recording runtime."""
import ctypes
import hashlib
import json
import os
import re
import struct
import sys
import types

import torch

from kw_foreign_worker.common import Refused
from kw_foreign_worker.device import NUMBERS, DeviceTensor

NONE, BOOL, INT, REAL, TENSOR, LIST, TEXT = range(7)
DTYPES = {number: dtype for dtype, number in NUMBERS.items()}


class Unbuilt(BaseException):
    """A function was called that is not compiled yet."""


def listed(value):
    return [] if value is None else [value] if isinstance(value, (str, os.PathLike)) else list(value)


def written(text):
    data = text.encode()
    return [TEXT, len(data), *struct.unpack(f"<{(len(data) + 7) // 8}q", data.ljust((len(data) + 7) // 8 * 8, b"\0"))]


def packed(value, memory):
    """A value as words of eight bytes for native code."""
    if value is None:
        return [NONE]
    if isinstance(value, DeviceTensor):
        shape = value.kw_shape
        base = memory.base(shape)
        if base in memory.early:
            raise Refused("numbers that were made on the device before the call")
        return [TENSOR, base, shape.untyped_storage().nbytes(), 0, shape.storage_offset(), NUMBERS[shape.dtype], shape.dim(),
                *shape.shape, *shape.stride()]
    if isinstance(value, torch.Tensor):
        raise Refused("a tensor that is not on the device is given to an extension")
    if isinstance(value, bool):
        return [BOOL, int(value)]
    if isinstance(value, torch.dtype):
        return [INT, NUMBERS[value]]
    if isinstance(value, int):
        return [INT, value]
    if isinstance(value, float):
        return [REAL, *struct.unpack("<q", struct.pack("<d", value))]
    if isinstance(value, str):
        return written(value)
    if isinstance(value, (list, tuple)):
        return [LIST, len(value), *(word for one in value for word in packed(one, memory))]
    raise Refused(f"an argument of type {type(value).__name__} is given to an extension")


class Words:
    def __init__(self, address):
        self.at = ctypes.cast(address, ctypes.POINTER(ctypes.c_int64))
        self.next = 0

    def take(self, count=1):
        words = [self.at[self.next + i] for i in range(count)]
        self.next += count
        return words if count != 1 else words[0]

    def value(self, memory):
        kind = self.take()
        if kind == TENSOR:
            base, count, on_host, offset, number, rank = self.take(6)
            shape = [self.take() for _ in range(2 * rank)]
            if on_host:
                raise Refused("an extension returns a tensor that is not on the device")
            return memory.at(base, count, offset, DTYPES[number], shape[:rank], shape[rank:])
        if kind == LIST:
            return [self.value(memory) for _ in range(self.take())]
        if kind == TEXT:
            count = self.take()
            words = [self.take() for _ in range((count + 7) // 8)]
            return struct.pack(f"<{len(words)}q", *words)[:count].decode()
        if kind == NONE:
            return None
        word = self.take()
        return bool(word) if kind == BOOL else struct.unpack("<d", struct.pack("<q", word))[0] if kind == REAL else word


class Operators:
    """torch.ops of a library that an extension registers."""
    known, pending = {}, False

    @classmethod
    def of(cls, space):
        if space not in cls.known:
            if space in ("aten", "prim", "prims"):
                raise Refused(f"it registers operators of PyTorch's own library {space}")
            cls.known[space] = cls()
            setattr(torch.ops, space, cls.known[space])
        return cls.known[space]

    def __getattr__(self, name):
        if name.startswith("__") or not Operators.pending:
            raise AttributeError(f"there is no operator '{name}'")

        def unbuilt(*words, **named):
            raise Unbuilt()

        unbuilt.default = unbuilt
        return unbuilt


class Extension(types.ModuleType):
    """The result of load and load_inline: a module with the bound functions."""

    def __init__(self, name, built, memory):
        super().__init__(name)
        self.__dict__.update(kw_library=None, kw_memory=memory)
        if built is None:
            return
        for entry, row in built["kernels"].items():
            memory.runtime.kernel(entry.encode(), (ctypes.c_long * len(row))(*row), len(row))
        # Its own libraries are searched first: a CUDA build of PyTorch has loaded the real runtime globally.
        library = ctypes.CDLL(built["library"], mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
        library.kw_extension_functions.restype = ctypes.c_char_p
        library.kw_extension_call.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p)]
        self.__dict__["kw_library"] = library
        for function in library.kw_extension_functions().decode().split():
            space, _, name = function.rpartition("::")
            setattr(Operators.of(space) if space else self, name, self.caller(function))

    def __getattr__(self, name):
        if name.startswith("__") or self.kw_library is not None:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return self.caller(name)

    def caller(self, function):
        def call(*words, **named):
            if self.kw_library is None:
                raise Unbuilt()
            return self.called(function, words, named)

        call.__name__ = function
        call.default = call
        return call

    def called(self, function, words, named):
        if not self.kw_memory.runtime.inside:
            raise Refused("its extension is called before the model is")
        flat = [len(words), *(word for one in words for word in packed(one, self.kw_memory)), len(named)]
        for name, one in named.items():
            flat += written(name) + packed(one, self.kw_memory)
        result = ctypes.c_void_p()
        code = self.kw_library.kw_extension_call(function.encode(), (ctypes.c_int64 * len(flat))(*flat), ctypes.byref(result))
        if code != 0:
            raise RuntimeError(ctypes.string_at(result.value).decode(errors="replace"))
        return Words(result.value).value(self.kw_memory)


class Builder:
    """load and load_inline."""

    def __init__(self, job, memory):
        self.job, self.memory, self.wants, self.loaded = job, memory, [], {}

    def extension(self, name, sources, functions, flags):
        want = {"name": str(name), "sources": sources, "functions": functions, "flags": [str(one) for one in flags]}
        key = hashlib.sha256(json.dumps(want, sort_keys=True).encode()).hexdigest()
        if key not in self.loaded:
            built = self.job["extensions"].get(key)
            if built is None:
                self.wants.append(dict(want, key=key))
                Operators.pending = True
                for _, text in sources:  # so that registered operators can be called, and end this process
                    for space in re.findall(r"\bTORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\s*\(\s*(\w+)", text):
                        Operators.of(space)
            self.loaded[key] = Extension(str(name), built, self.memory)
        return self.loaded[key]

    def load_inline(self, name, cpp_sources, cuda_sources=None, sycl_sources=None, functions=None, extra_cflags=None,
                    extra_cuda_cflags=None, **_):
        sources = [["cpp", "\n".join(listed(cpp_sources))], ["cuda", "\n".join(listed(cuda_sources))]]
        names = [functions] if isinstance(functions, str) else list(functions or [])
        return self.extension(name, sources, names, [*listed(extra_cflags), *listed(extra_cuda_cflags)])

    def load(self, name, sources, extra_cflags=None, extra_cuda_cflags=None, **_):
        texts = []
        for path in listed(sources):
            full = os.path.join(os.path.dirname(self.job["path"]), path)
            try:
                with open(full) as file:
                    texts.append(["cuda file" if full.endswith(".cu") else "cpp file", file.read()])
            except OSError as error:
                raise Refused(f"its source {path} cannot be read: {error.strerror}; sources must be in the folder of the candidate") from None
        return self.extension(name, texts, [], [*listed(extra_cflags), *listed(extra_cuda_cflags)])


def install(job, memory):
    """Replaces torch.utils.cpp_extension by a module of ours."""
    builder = Builder(job, memory)
    module = types.ModuleType("torch.utils.cpp_extension")
    module.load, module.load_inline = builder.load, builder.load_inline
    module.CUDA_HOME, module.ROCM_HOME, module.IS_HIP_EXTENSION = "/usr/local/cuda", None, False
    module.include_paths = module.library_paths = lambda *words, **named: []
    sys.modules[module.__name__] = torch.utils.cpp_extension = module
    return builder
