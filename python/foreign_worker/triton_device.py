"""Triton without a GPU: its compiler stops at PTX, and the recording runtime records its launches."""
import contextlib
import ctypes
import functools
import pathlib
import re
import struct
import types

import torch

from kw_foreign_worker.common import Refused
from kw_foreign_worker.device import DeviceTensor
from kw_foreign_worker.ptx import param_sizes, renamed

SCALARS = {"i1": "<b", "u1": "<b", "i8": "<b", "u8": "<B", "i16": "<h", "u16": "<H", "i32": "<i", "u32": "<I", "i64": "<q",
           "u64": "<Q", "fp32": "<f", "f32": "<f", "fp64": "<d", "f64": "<d", "fp16": "<e"}
PTX_VERSION, NEWER_PTX, NEWER_DEVICES = 86, 87, 103  # what Triton's code generators write, and what newer devices need


class Dims(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", Dims), ("block", Dims), ("shared", ctypes.c_size_t), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


COOPERATIVE, CLUSTER = 2, 4  # CUDA's numbers for launch attributes


def param_bytes(kind, value, memory):
    """The kernel argument for one parameter of Triton type `kind`."""
    if kind.startswith("*"):
        if isinstance(value, DeviceTensor):
            if memory.base(value.kw_shape) in memory.early:
                raise Refused("numbers that were made on the device before the call")
        elif isinstance(value, torch.Tensor):
            raise ValueError("Pointer argument cannot be accessed from Triton (cpu tensor?)")
        return struct.pack("<Q", value.data_ptr() if hasattr(value, "data_ptr") else value or 0)
    if kind not in SCALARS:
        raise Refused(f"a kernel parameter of type {kind}")
    return struct.pack(SCALARS[kind], value)


def flat_params(kinds, values, memory):
    for kind, value in zip(kinds, values):
        if isinstance(kind, tuple):
            yield from flat_params(kind, value, memory)
        elif kind != "constexpr":
            yield param_bytes(str(kind), value, memory)


class Kernels:
    """The compiled kernels, by the handle that Triton uses."""

    def __init__(self, memory):
        self.memory, self.images, self.loaded, self.buffers = memory, {}, {}, []
        register = getattr(memory.runtime.library, "__cudaRegisterFunction")
        register.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, *[ctypes.c_void_p] * 5]
        register.restype = None
        self.register, self.start = register, memory.runtime.library.cudaLaunchKernelExC
        self.start.argtypes = [ctypes.POINTER(Config), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]

    def load(self, name, ptx):
        text, (entry,) = renamed(ptx, [name])
        room = ctypes.create_string_buffer(1)  # a unique address
        self.buffers.append(room)
        function = ctypes.addressof(room)
        self.loaded[function] = entry, text
        most = re.search(r"\.(?:req|max)ntid\s+(\d+)", text)
        return function, min(1024, int(most.group(1)) if most else 1024)

    def launch(self, grid, function, launcher, values):
        if function not in self.loaded:
            raise Refused("a kernel is launched that was not compiled in this process")
        if not self.memory.runtime.inside:
            raise Refused("its kernel is launched before the model is called")
        entry, text = self.loaded[function]
        params = list(flat_params(launcher.signature, values, self.memory))
        sizes = param_sizes(text, entry)
        params += [bytes(one) for one in sizes[len(params):]]  # Triton's own memory, which no kernel has here
        if [len(one) for one in params] != sizes:
            raise Refused("a Triton kernel is launched with parameters that do not match its own")
        if entry not in self.images:
            self.images[entry] = text
            numbers = [0, 0, 0, 0, *sizes]
            self.memory.runtime.kernel(entry.encode(), (ctypes.c_long * len(numbers))(*numbers), len(numbers))
        self.register(None, function, None, entry.encode(), -1, None, None, None, None, None)
        self.started(grid, function, launcher.metadata, params)

    def started(self, grid, function, meta, params):
        cluster = tuple(getattr(meta, "cluster_dims", None) or (meta.num_ctas, 1, 1))
        attributes = (Attribute * 2)(Attribute(COOPERATIVE), Attribute(CLUSTER))
        attributes[0].value[0] = int(bool(getattr(meta, "launch_cooperative_grid", False)))
        attributes[1].value[:3] = cluster
        config = Config(Dims(*(int(one) * by for one, by in zip(grid, cluster))), Dims(32 * meta.num_warps, 1, 1), meta.shared, None, attributes, 2)
        rooms = [ctypes.create_string_buffer(one, len(one)) for one in params]
        pointers = (ctypes.c_void_p * max(1, len(rooms)))(*(ctypes.addressof(one) for one in rooms))
        self.start(ctypes.byref(config), function, pointers)


class Launcher:
    """The launcher that Triton makes for a kernel and calls at every launch."""

    def __init__(self, kernels, source, metadata):
        self.kernels, self.signature, self.metadata = kernels, list(source.signature.values()), metadata
        if getattr(metadata, "launch_pdl", False):
            raise Refused("programmatic dependent launch")
        if getattr(metadata, "global_scratch_size", 0) or getattr(metadata, "profile_scratch_size", 0):
            raise Refused("a Triton kernel that needs memory of Triton (tensor descriptors made in a kernel)")

    def __call__(self, x, y, z, stream, function, packed, launch_metadata, enter_hook, exit_hook, *values):
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if 0 not in (x, y, z):
            self.kernels.launch((x, y, z), function, self, values)
        if exit_hook is not None:
            exit_hook(launch_metadata)


class Kept:
    """A file that exists only in memory."""
    texts = {}

    def __init__(self, path):
        self.path, self.suffix = path, pathlib.PurePath(path).suffix

    def read_bytes(self):
        return self.texts[self.path]

    def read_text(self):
        return self.texts[self.path].decode()


def kept_or_real(path):
    return Kept(path) if path in Kept.texts else pathlib.Path(path)


def memory_cache(base):
    class Cache(base):
        def __init__(self, key, override=False, dump=False):
            self.key = key

        def get_file(self, filename):
            path = f"kept/{self.key}/{filename}"
            return path if path in Kept.texts else None

        def put(self, data, filename, binary=True):
            path = f"kept/{self.key}/{filename}"
            Kept.texts[path] = data if isinstance(data, bytes) else str(data).encode()
            return path

        def get_group(self, filename):
            return None

        def put_group(self, filename, group):
            return filename

    return Cache


def stop_at_ptx(nvidia):
    """Stops Triton's compiler at PTX: assemblers are other programs, which may not be started."""
    backend = nvidia.CUDABackend
    make, add = backend.__init__, backend.add_stages

    def made(self, target):
        make(self, target)
        self.binary_ext = "ptx"

    def added(self, stages, *words, **named):
        add(self, stages, *words, **named)
        stages.pop("cubin", None)

    backend.__init__, backend.add_stages = made, added
    nvidia.get_ptx_version_from_options = lambda options, arch: options.ptx_version or (NEWER_PTX if arch >= NEWER_DEVICES else PTX_VERSION)
    nvidia.get_ptxas_version = lambda *words: "none"


def without_threads(ir):
    """The compiler of some versions has a pool of threads, which are not allowed here."""
    make = ir.context
    if not hasattr(make, "disable_multithreading"):
        return

    def context():
        one = make()
        one.disable_multithreading()
        return one

    ir.context = context


def stand_in_driver(kernels, job):
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase
    number = {int(which): value for which, value in job["attributes"].items()}
    properties = {"max_shared_mem": number[97], "max_num_regs": number[82], "multiprocessor_count": number[16], "warpSize": 32,
                  "sm_clock_rate": number.get(13, 0), "mem_clock_rate": 0, "mem_bus_width": 0}

    class Driver(DriverBase):
        def __init__(self):
            self.utils = types.SimpleNamespace(get_device_properties=lambda device: dict(properties), load_binary=self.load_binary)
            self.launcher_cls = functools.partial(Launcher, kernels)

        def load_binary(self, name, binary, shared, device):
            function, most = kernels.load(name, binary.decode() if isinstance(binary, bytes) else binary)
            return function, function, min(255, number[82] // most), 0, most

        @classmethod
        def is_active(cls):
            return True

        def map_python_to_cpp_type(self, kind):
            return kind

        def get_current_target(self):
            return GPUTarget("cuda", number[75] * 10 + number[76], 32)

        def get_active_torch_device(self):
            return torch.device("cuda", 0)

        def get_device_interface(self):
            return torch.cuda

        def get_current_device(self):
            return 0

        def set_current_device(self, device):
            pass

        def get_current_stream(self, device=0):
            return 0

        def get_device_capability(self, device=0):
            return number[75], number[76]

        def get_benchmarker(self):
            raise Refused("it measures its kernels while it is recorded")

    return Driver()


class Tuning:
    """The configuration of an autotuned kernel: the choice of a tuner on a GPU, otherwise the first that compiles and fits."""

    def __init__(self, given, autotuner):
        self.given, self.case, self.turn, self.notes = given, "", 0, set()
        from triton.compiler.errors import CompilationError
        from triton.runtime.errors import OutOfResources
        run = autotuner.run

        def with_one(tuner, config, words, named):
            every, tuner.configs = tuner.configs, [config]
            try:
                return run(tuner, *words, **named)
            finally:
                tuner.configs = every

        def tuned(tuner, *words, **named):
            turn, self.turn = self.turn, self.turn + 1
            known = self.given.get(self.case, [])
            pinned = [one for one in tuner.configs if turn < len(known) and str(one) == known[turn]]
            if len(tuner.configs) == 1 or pinned:
                return with_one(tuner, (pinned or tuner.configs)[0], words, named)
            for config in self.first_elsewhere(turn, self.allowed(tuner, words, named)):
                with contextlib.suppress(OutOfResources, CompilationError):
                    result = with_one(tuner, config, words, named)
                    if not self.given:
                        self.notes.add(f"{tuner.base_fn.__name__} was not tuned: the first of {len(tuner.configs)} configurations that fits is used ({config})")
                    return result
            raise RuntimeError("no configuration of an autotuned kernel fits the device")

        autotuner.run = tuned

    def first_elsewhere(self, turn, configs):
        """If a shape was not tuned, the choice at the largest shape comes first."""
        there = next((known[turn] for known in self.given.values() if turn < len(known)), "")
        return sorted(configs, key=lambda one: str(one) != there)

    @staticmethod
    def allowed(tuner, words, named):
        if not tuner.early_config_prune:
            return list(tuner.configs)
        tuner.nargs = dict(zip(tuner.arg_names, words))
        return tuner.early_config_prune(tuner.configs, tuner.nargs, **named)

    def begin(self, case):
        self.case, self.turn = str(case), 0


class Triton:
    def __init__(self, job, memory):
        from triton import knobs
        from triton._C.libtriton import ir
        from triton.backends.nvidia import compiler as nvidia
        from triton.compiler import compiler
        from triton.runtime import cache, driver
        from triton.runtime.autotuner import Autotuner
        self.kernels = Kernels(memory)
        stop_at_ptx(nvidia)
        without_threads(ir)
        compiler.Path = kept_or_real
        knobs.cache.manager_class = memory_cache(cache.CacheManager)
        knobs.compilation.disable_line_info = True
        cache.triton_key = lambda: "kept"  # otherwise all of Triton is read; the cache lives only as long as this process
        driver.set_active(stand_in_driver(self.kernels, job))
        self.tuning = Tuning(job.get("tuned") or {}, Autotuner)
