"""A device without a GPU: tensors that claim to be on the GPU, with addresses that the host cannot access and no values.

The recording runtime records memory and what happens to it; kernels of PyTorch are refused by name.
"""
import contextlib
import ctypes
import sys
import tempfile
import types
import uuid

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from kw_foreign_worker.common import EMPTY, VIEWS, ZEROS, Refused

# PyTorch's numbers for types.
NUMBERS = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6,
           torch.float64: 7, torch.bool: 11, torch.bfloat16: 15}
# Saved before a candidate can replace them.
empty, empty_like, empty_strided, full, zeros = torch.empty, torch.empty_like, torch.empty_strided, torch.full, torch.zeros
FULL = {"full": 1, "full_like": 1, "new_full": 2, "fill_": 1}
ONES = {"ones", "ones_like", "new_ones"}
LIKE = {"empty_like", "zeros_like", "ones_like", "full_like"}
SILENT = {"record_stream", "is_pinned", "_has_compatible_shallow_copy_type", "is_same_size", "sym_size", "sym_stride", "sym_numel"}
UPLOAD, DOWNLOAD, INSIDE = 1, 2, 3
ON_GPU = 2  # DLPack's number for it


class Runtime:
    """The library that replaces the CUDA runtime."""

    def __init__(self, job):
        self.library = ctypes.CDLL(job["runtime"], mode=ctypes.RTLD_GLOBAL)
        number, pointer, text = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p
        for name, kinds, result in (
                ("kw_record_kernel", [text, ctypes.POINTER(ctypes.c_long), ctypes.c_int], None),
                ("kw_record_attribute_is", [ctypes.c_int, ctypes.c_int64], None), ("kw_record_begin", [number, number], None),
                ("kw_record_line", [text, number], None), ("kw_record_refuse", [text], None),
                ("kw_record_fill", [pointer, ctypes.c_uint, ctypes.c_uint, ctypes.c_ulong], None),
                ("kw_record_move", [pointer, pointer, ctypes.c_uint, ctypes.c_int, *[ctypes.POINTER(ctypes.c_int64)] * 3], None),
                ("kw_record_tensor", [ctypes.c_int, number], number), ("kw_record_take", [text, ctypes.c_size_t], ctypes.c_size_t),
                ("kw_record_take_back", [number], None), ("kw_record_world", [number], None), ("kw_record_seconds", [], ctypes.c_double),
                ("kw_record_device", [], ctypes.c_int), ("kw_record_device_name", [], text), ("kw_record_variable", [text], text),
                ("kw_record_device_id", [text], None), ("kw_record_attribute", [ctypes.c_int], ctypes.c_int64),
                ("kw_record_result", [ctypes.c_int, pointer, ctypes.c_ulong], None), ("kw_record_confine", [], ctypes.c_int),
                ("cudaMalloc", [ctypes.POINTER(pointer), ctypes.c_size_t], ctypes.c_int),
                ("cudaMemcpy", [pointer, pointer, ctypes.c_size_t, ctypes.c_int], ctypes.c_int)):
            function = getattr(self.library, name)
            function.argtypes, function.restype = kinds, result
            setattr(self, name.removeprefix("kw_record_"), function)
        self.world(job["seed"])
        for which, value in job["attributes"].items():
            self.attribute_is(int(which), value)
        self.begin(job["base"], job["memory_bytes"])
        self.inside, self.noise, self.made = False, job["seed"], 0

    def say(self, line):
        self.noise = (self.noise * 6364136223846793005 + 1442695040888963407) % 2**64
        self.line(line.encode(), self.noise)

    def next_world(self):
        """From now on the machine and its device are others."""
        self.world(self.noise ^ 0x5DEECE66D)

    def refusal(self, why):
        if not self.inside:
            raise Refused(why)
        self.refuse(why.encode())

    def make(self, count):
        address = ctypes.c_void_p()
        if self.cudaMalloc(ctypes.byref(address), max(count, 1)) != 0:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.made += max(count, 1)
        return address.value

    def taken(self):
        room, pieces = ctypes.create_string_buffer(1 << 20), []
        while count := self.take(room, len(room)):
            pieces.append(room.raw[:count])
        return b"".join(pieces).decode()


class Memory:
    """The address of each piece of memory; a tensor without storage keeps its shape."""

    def __init__(self, runtime):
        self.runtime, self.address_of, self.homes, self.early, self.handed = runtime, {}, {}, set(), []

    @staticmethod
    def key(shape):
        return shape.untyped_storage()._cdata

    def place(self, shape, address):
        self.address_of[self.key(shape)] = address
        self.homes[address] = shape  # kept alive, so that no other object gets its key
        return DeviceTensor(shape, self)

    def new(self, shape):
        return self.place(shape, self.runtime.make(shape.untyped_storage().nbytes()))

    def base(self, shape):
        return self.address_of[self.key(shape)]

    def at(self, base, count, offset, dtype, sizes, strides):
        """A tensor that native code returned."""
        if base not in self.homes:
            self.place(empty(count, dtype=torch.uint8, device="meta"), base)
        shape = empty(0, dtype=dtype, device="meta")
        shape.set_(self.homes[base].untyped_storage(), offset, sizes, strides)
        return DeviceTensor(shape, self)


class DeviceTensor(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, shape, memory):
        made = torch.Tensor._make_wrapper_subclass(cls, shape.size(), strides=shape.stride(), storage_offset=shape.storage_offset(),
                                                   dtype=shape.dtype, device="meta", requires_grad=False)
        made.kw_shape, made.kw_memory = shape, memory
        return made

    device = property(lambda self: torch.device("cuda", self.kw_memory.runtime.device()))
    is_cuda, is_cpu, is_meta = (property(lambda self, value=value: value) for value in (True, False, False))

    def kw_address(self):
        return self.kw_memory.base(self.kw_shape) + self.kw_shape.storage_offset() * self.kw_shape.element_size()

    def data_ptr(self):
        return self.kw_address() if self.numel() else 0

    def get_device(self):
        return self.kw_memory.runtime.device()

    def __repr__(self, **_):
        return f"tensor(..., device='{self.device}', size={tuple(self.shape)}, dtype={self.dtype})"

    def cuda(self, *words, **named):
        return self

    def cpu(self, *words, **named):
        return self.to("cpu")

    def to(self, *words, **named):
        named.pop("copy", None)
        if words and isinstance(words[0], torch.Tensor):
            words = (words[0].device, words[0].dtype, *words[1:])
        device, dtype, _, _ = torch._C._nn._parse_to(*words, **named)
        dtype = dtype or self.dtype
        if device is None or device.type == "cuda":
            return self if dtype == self.dtype else torch.ops.aten._to_copy.default(self, dtype=dtype)
        return torch.ops.aten._to_copy.default(self, dtype=dtype, device=device)

    def __dlpack_device__(self):
        return ON_GPU, 0

    def __dlpack__(self, **named):
        if self.kw_memory.base(self.kw_shape) in self.kw_memory.early:
            raise Refused("numbers that were made on the device before the call")
        return handed_over(self)

    @classmethod
    def __torch_dispatch__(cls, func, kinds, words=(), named=None):
        one = next(one for one in tree_leaves((words, named)) if isinstance(one, DeviceTensor))
        return dispatched(one.kw_memory, func, words, named or {})


class Managed(ctypes.Structure):
    """DLPack's tensor, followed by the data of its owner."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int * 2), ("rank", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def handed_over(one):
    """A tensor for other libraries; they get its address."""
    code = 4 if one.dtype == torch.bfloat16 else 6 if one.dtype == torch.bool else 2 if one.dtype.is_floating_point else 0 if one.dtype.is_signed else 1
    numbers = [(ctypes.c_int64 * max(1, one.dim()))(*values) for values in (one.shape, one.stride())]
    made = Managed(one.data_ptr(), (ON_GPU, 0), one.dim(), code, 8 * one.element_size(), 1, *numbers, 0, None, None)
    one.kw_memory.handed.append((made, numbers, one))  # the receiving library may use it at any time
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return capsule(ctypes.addressof(made), b"dltensor", None)


def is_device(one):
    return isinstance(one, DeviceTensor)


def on_shapes(value):
    return tree_map_only(DeviceTensor, lambda one: one.kw_shape, value)


def dispatched(memory, func, words, named):
    """One of PyTorch's operations."""
    name = func.overloadpacket.__name__
    before = [one for one in tree_leaves((words, named)) if is_device(one)]
    place = named.get("device")
    place = torch.device(place).type if place is not None else None
    if not before and place != "cuda":
        return func(*words, **named)
    to_host = place is not None and place != "cuda"
    if name in ("_to_copy", "copy_", "clone"):
        return copied(memory, name, func, words, named, to_host)
    if name in ("_local_scalar_dense", "item"):
        return downloaded(memory, before[0]).item()
    if memory.runtime.inside and not before and name not in EMPTY | ZEROS | ONES | FULL.keys():
        return brought(memory, func, name, words, named)
    if memory.runtime.inside and name not in VIEWS | EMPTY | ZEROS | ONES | SILENT | FULL.keys() | {"zero_"} and not to_host:
        return computed(memory, name, ())
    if place is not None:
        named = dict(named, device="cpu" if to_host else "meta")
    if named.get("pin_memory"):
        named = dict(named, pin_memory=False)
    if name == "zero_" or name in FULL and not to_host and name == "fill_":
        return filled(memory, name, words[0], 0 if name == "zero_" else words[1])
    result = like(on_shapes(words[0]), **named) if name in LIKE and not to_host else func(*on_shapes(words), **on_shapes(named))
    if to_host or name in SILENT:
        return result
    if name in VIEWS:
        return tree_map_only(torch.Tensor, lambda one: DeviceTensor(one, memory), result)
    made = tree_map_only(torch.Tensor, lambda one: wrapped(memory, one), result)
    if name in EMPTY:
        return made
    if name in ZEROS or name in ONES or name in FULL:
        value = 0 if name in ZEROS else 1 if name in ONES else words[FULL[name]]
        return filled(memory, name, made, value)
    computed(memory, name, made)
    return made


def is_dense(one):
    count = 1
    for step, extent in sorted(zip(one.stride(), one.shape)):
        if extent != 1 and step != count:
            return False
        count *= extent
    return True


def like(one, dtype=None, memory_format=None, **_):
    """empty_like; PyTorch's own version imports half of its compiler to find strides."""
    dtype = dtype or one.dtype
    if memory_format in (None, torch.preserve_format) and is_dense(one):
        return empty_strided(one.size(), one.stride(), dtype=dtype, device="meta")
    if memory_format == torch.contiguous_format:
        return empty(one.size(), dtype=dtype, device="meta")
    return empty_like(one, dtype=dtype, device="meta", memory_format=memory_format or torch.preserve_format)


def brought(memory, func, name, words, named):
    """A tensor made from no other tensor is a constant: made on the host, and uploaded."""
    if torch.Tag.nondeterministic_seeded in func.tags:
        raise Refused(f"it calls aten::{name}, whose numbers are another device's")
    made = func(*words, **dict(named, device="cpu"))
    return tree_map_only(torch.Tensor, lambda one: copied(memory, "_to_copy", func, (one,), {}, False), made)


def wrapped(memory, shape):
    """The result of an operation: known memory, or new memory."""
    return DeviceTensor(shape, memory) if memory.key(shape) in memory.address_of else memory.new(shape)


def computed(memory, name, made):
    if memory.runtime.inside:
        raise Refused(f"it calls aten::{name}, which is not a kernel of the file")
    # Tensors made before the calls may stay unused; they have no values.
    memory.early.update(memory.base(one.kw_shape) for one in tree_leaves(made) if is_device(one))


def filled(memory, name, made, value):
    if is_device(value) or isinstance(value, torch.Tensor) or not made.is_contiguous():
        computed(memory, name, made)
    elif not memory.runtime.inside:
        memory.early.add(memory.base(made.kw_shape))
    elif made.numel():
        one = full((1,), value, dtype=made.dtype, device="cpu")
        bits = bytes(one.view(torch.uint8).tolist())
        if len(bits) == 8 and bits[:4] != bits[4:]:
            computed(memory, name, made)
        bits = bits[:4]
        memory.runtime.fill(made.kw_address(), int.from_bytes(bits, "little"), len(bits), made.nbytes)
    return made


def downloaded(memory, one):
    """Noise, and a note that it was read."""
    to = zeros(one.shape, dtype=one.dtype, device="cpu")
    if memory.runtime.inside and to.numel():
        memory.runtime.cudaMemcpy(to.data_ptr(), one.kw_address(), to.nbytes, DOWNLOAD)
    return to


def copied(memory, name, func, words, named, to_host):
    runtime = memory.runtime
    if name == "copy_":
        to, source = words[0], words[1]
        if not is_device(to):
            return func(to, downloaded(memory, source))
    else:
        to, source = None, words[0]
        if to_host:
            return downloaded(memory, source).to(named.get("dtype") or source.dtype)
    dtype = named.get("dtype") or source.dtype
    if to is None:
        to = memory.new(like(on_shapes(source), dtype, named.get("memory_format")))
    source = source if is_device(source) else source.to(to.dtype).contiguous()
    if source.shape != to.shape:
        source = source.expand(to.shape)
    dense = source.is_contiguous() and to.is_contiguous()
    converts = source.dtype != to.dtype
    if not is_device(source) and not dense or converts and not {source.dtype, to.dtype} <= NUMBERS.keys():
        computed(memory, name, to)
    elif not runtime.inside:
        memory.early.add(memory.base(to.kw_shape))
    elif to.numel() and (converts or not dense):
        numbers = [(ctypes.c_int64 * to.dim())(*one) for one in (to.shape, to.stride(), source.stride())]
        element = 256 + 16 * NUMBERS[source.dtype] + NUMBERS[to.dtype] if converts else to.element_size()
        runtime.move(to.kw_address(), source.kw_address(), element, to.dim(), *numbers)
    elif to.numel():
        from_address = source.kw_address() if is_device(source) else source.data_ptr()
        runtime.cudaMemcpy(to.kw_address(), from_address, to.nbytes, INSIDE if is_device(source) else UPLOAD)
    return to


class Watch(TorchDispatchMode):
    """Handles calls that name the device but have no tensor on it."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # otherwise the first operation imports all of PyTorch's compiler

    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def __torch_dispatch__(self, func, kinds, words=(), named=None):
        return dispatched(self.memory, func, words, named or {})


class Stream:
    """The default stream, whichever stream is requested: all work runs in its order."""
    cuda_stream, device, priority, stream_id, device_index = 0, torch.device("cuda", 0), 0, 0, 0

    def __init__(self, *words, **named):
        pass

    def query(self):
        return True

    def record_event(self, event=None):
        return event or Event()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return False

    def synchronize(self, *words):
        pass

    wait_event = wait_stream = synchronize


class Event:
    def __init__(self, *words, **named):
        pass

    def query(self):
        return True

    def elapsed_time(self, other):
        return 1.0

    def synchronize(self, *words):
        pass

    record = wait = synchronize


def patch_moves():
    """Moves a host tensor to the device; PyTorch itself would need a CUDA build for it."""
    to, tensor = torch.Tensor.to, torch.tensor

    def moved(self, *words, **named):
        place = words[0].device if words and isinstance(words[0], torch.Tensor) else named.get("device", words[0] if words else None)
        if not isinstance(place, (str, int, torch.device)) or torch.device(place).type != "cuda":
            return to(self, *words, **named)
        dtype = named.get("dtype") or next((one for one in words if isinstance(one, torch.dtype)), self.dtype)
        return torch.ops.aten._to_copy.default(self, dtype=dtype, device=torch.device("cuda", 0))

    def made(data, *, device=None, **named):
        place = torch.get_default_device() if device is None else torch.device(device)
        one = tensor(data, device="cpu" if place.type == "cuda" else place, **named)
        return one.cuda() if place.type == "cuda" else one

    torch.Tensor.to, torch.tensor = moved, made
    torch.as_tensor = lambda data, dtype=None, device=None: made(data, dtype=dtype, device=device)
    torch.Tensor.cuda = lambda self, *words, **named: self.to("cuda")


def without_compiler():
    """PyTorch's compiler would write files and start processes. Calls that only disable compilation have no effect."""
    for name in ("_dynamo", "_inductor"):
        stub, config = types.ModuleType("torch." + name), types.ModuleType(f"torch.{name}.config")
        stub.disable = lambda function=None, *words, **named: function if function is not None else lambda other: other
        stub.is_compiling = lambda: False
        stub.config = config
        sys.modules.update({stub.__name__: stub, config.__name__: config})
        setattr(torch, name, stub)

    def refused(*words, **named):
        raise Refused("it calls torch.compile, whose kernels are not kernels of the file")

    torch.compile = refused


class Properties(types.SimpleNamespace):
    """The device of the judge; its name and identity are made up."""

    def __init__(self, runtime, **numbers):
        super().__init__(**numbers)
        self.__dict__["kw_runtime"] = runtime

    name = property(lambda self: self.kw_runtime.device_name().decode())
    pci_bus_id, pci_device_id, pci_domain_id = (property(lambda self, which=which: self.kw_runtime.attribute(which)) for which in (33, 34, 50))

    @property
    def uuid(self):
        room = ctypes.create_string_buffer(16)
        self.kw_runtime.device_id(room)
        return uuid.UUID(bytes=room.raw)


def pretend(job, runtime):
    """torch.cuda as on a machine with the device of the judge."""
    without_compiler()
    cuda, number = torch.cuda, {int(which): value for which, value in job["attributes"].items()}
    properties = Properties(
        runtime, major=number[75], minor=number[76], total_memory=number[-2], multi_processor_count=number[16],
        warp_size=32, max_threads_per_multi_processor=number[39], shared_memory_per_block=number[8],
        shared_memory_per_block_optin=number[97], shared_memory_per_multiprocessor=number[81], regs_per_multiprocessor=number[82],
        L2_cache_size=number[38], max_threads_per_block=number[1])
    nothing = lambda *words, **named: None  # noqa: E731
    answers = {
        "is_available": lambda: True, "is_initialized": lambda: True, "device_count": lambda: runtime.device() + 1, "current_device": lambda: runtime.device(),
        "get_device_properties": lambda *words: properties, "get_device_name": lambda *words: properties.name,
        "get_device_capability": lambda *words: (properties.major, properties.minor), "is_bf16_supported": lambda *words: True,
        "current_stream": lambda *words: Stream(), "default_stream": lambda *words: Stream(), "Stream": Stream, "Event": Event,
        "stream": lambda *words: contextlib.nullcontext(), "device": lambda *words: contextlib.nullcontext(),
        "device_of": lambda *words: contextlib.nullcontext(), "memory_allocated": lambda *words: 0,
        "max_memory_allocated": lambda *words: 0, "memory_reserved": lambda *words: 0}
    for name in ("_lazy_init", "init", "set_device", "set_stream", "synchronize", "empty_cache", "manual_seed", "manual_seed_all",
                 "reset_peak_memory_stats"):
        answers[name] = nothing
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    tempfile.tempdir = "/nowhere"  # modules of PyTorch ask for one when they are imported
    patch_moves()
    move = torch.nn.Module._apply

    def applied(self, function, recurse=True):
        # Parameters get the values of the task when the model is called; until then they stay on the host.
        return self if "cuda" in function.__qualname__ or "convert" in function.__qualname__ else move(self, function, recurse)

    torch.nn.Module._apply = applied
