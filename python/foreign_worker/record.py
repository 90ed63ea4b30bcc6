"""Runs a Python candidate on a GPU and writes down which Triton kernels it launches, and on what.

The answer is a recording as docs/foreign.md describes it, and the kernels' PTX.
Whoever reads it believes nothing of it; what it says is played back and judged elsewhere.
"""
import hashlib
import json
import os
import random
import re
import struct
import sys

from kw_foreign_worker.common import DTYPES, EMPTY, VIEWS, ZEROS, Candidate, Refused

MOST_LINES = 20000
SCALARS = {"i1": "<b", "u1": "<b", "i8": "<b", "u8": "<B", "i16": "<h", "u16": "<H", "i32": "<i", "u32": "<I", "i64": "<q",
           "u64": "<Q", "fp32": "<f", "f32": "<f", "fp64": "<d", "f64": "<d", "fp16": "<e"}


class Recorder:
    def __init__(self):
        self.lines, self.inside, self.kept = [], False, []
        self.known = set()  # addresses of storages whose line is written
        self.images = {}  # entry -> PTX
        self.kernels = {}  # function handle -> compiled kernel

    def write(self, line):
        if len(self.lines) > MOST_LINES:
            raise Refused("more than 20000 operations in one call")
        self.lines.append(line)

    def refuse(self, why):
        self.write("refuse " + why)

    def storage(self, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.known:
            self.known.add(storage.data_ptr())
            self.write(f"alloc {storage.data_ptr()} {storage.nbytes()}")
        self.kept.append(tensor)  # an address is not given twice within a call

    def image(self, kernel):
        text = kernel.asm["ptx"]
        name = kernel.name if hasattr(kernel, "name") else kernel.metadata.name
        entry = f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        if entry not in self.images:
            text = re.sub(r"\n\t?\.section.*?\n\t?}", "", text, flags=re.S)
            lines = [line for line in text.splitlines() if not re.match(r"\s*(//|\.loc|\.file)", line)]
            self.images[entry] = re.sub(rf"\b{re.escape(name)}(?=\b|_param_)", entry, "\n".join(lines))
        return entry

    def launch(self, grid, stream, function, launcher, args):
        kernel = self.kernels.get(function)
        if kernel is None:
            raise Refused("a kernel that was compiled elsewhere is launched")
        entry = self.image(kernel)
        head = re.search(rf"\.entry {entry}\((.*?)\)", self.images[entry], flags=re.S)
        room = len([one for one in (head.group(1) if head else "").split(",") if one.strip()])
        params = [param_bytes(kind, value) for kind, value in zip(launcher.kw_signature, args) if kind != "constexpr"]
        params += [bytes(8)] * (room - len(params))  # memory of Triton's own, unused here
        meta = kernel.metadata
        cluster = list(getattr(meta, "cluster_dims", (1, 1, 1))) or [1, 1, 1]
        if getattr(meta, "launch_pdl", False):
            raise Refused("programmatic dependent launch")
        if getattr(meta, "global_scratch_size", 0):
            raise Refused("a kernel with memory of Triton's own")
        words = ["launch", entry, *grid, meta.num_warps * 32, 1, 1, meta.shared, *cluster,
                 int(bool(getattr(meta, "launch_cooperative_grid", False))), 0, len(params),
                 *[param.hex() or "-" for param in params]]
        self.write(" ".join(str(word) for word in words))


def param_bytes(kind, value):
    if kind.startswith("*"):
        address = value.data_ptr() if hasattr(value, "data_ptr") else value or 0
        return struct.pack("<Q", address)
    if kind == "bf16" or kind not in SCALARS:
        raise Refused(f"a kernel's parameter of type {kind}")
    return struct.pack(SCALARS[kind], value)


def hook_triton(recorder):
    try:
        from triton.backends.nvidia import driver
        from triton.compiler import compiler
    except ImportError:
        return
    launcher, kernel = driver.CudaLauncher, compiler.CompiledKernel
    make, run, load = launcher.__init__, launcher.__call__, kernel._init_handles

    def made(self, src, metadata):
        make(self, src, metadata)
        self.kw_signature = [str(kind) for kind in src.signature.values()]

    def called(self, grid_x, grid_y, grid_z, stream, function, *args):
        if recorder.inside:
            recorder.launch((grid_x, grid_y, grid_z), stream, function, self, args[4:])
        return run(self, grid_x, grid_y, grid_z, stream, function, *args)

    def loaded(self):
        load(self)
        recorder.kernels[self.function] = self

    launcher.__init__, launcher.__call__, kernel._init_handles = made, called, loaded


class Tuning:
    """Which configurations Triton's tuner chose: the second process takes the first one's, so that both launch the same."""

    def __init__(self, given):
        self.given, self.chosen, self.case, self.turn = given, {}, "", 0
        try:
            from triton.runtime.autotuner import Autotuner
        except ImportError:
            return
        run = Autotuner.run

        def tuned(tuner, *args, **kwargs):
            turn, self.turn = self.turn, self.turn + 1
            known = self.given.get(self.case, [])
            pinned = [one for one in tuner.configs if turn < len(known) and str(one) == known[turn]]
            if not pinned:
                result = run(tuner, *args, **kwargs)
                self.chosen.setdefault(self.case, {})[turn] = str(tuner.best_config)
                return result
            every, tuner.configs = tuner.configs, pinned[:1]
            try:
                return run(tuner, *args, **kwargs)
            finally:
                tuner.configs = every

        Autotuner.run = tuned

    def begin(self, case):
        self.case, self.turn = str(case), 0

    def answer(self):
        return {case: [turns[turn] for turn in sorted(turns)] for case, turns in self.chosen.items()}


def dispatch_mode(torch, recorder):
    from torch.utils._python_dispatch import TorchDispatchMode

    def cuda_tensors(values):
        found = []
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda one: found.append(one) if one.is_cuda else None, values)
        return found

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            if recorder.inside:
                self.note(func, args, kwargs, result)
            return result

        def note(self, func, args, kwargs, result):
            name = func.overloadpacket.__name__
            before, after = cuda_tensors((args, kwargs)), cuda_tensors(result)
            if not before and not after or name in VIEWS:
                return
            if name in EMPTY or name in ZEROS:
                for one in after:
                    recorder.storage(one)
                    if name in ZEROS and one.nbytes:
                        recorder.write(f"fill {one.data_ptr()} {one.nbytes} 1 {one.nbytes} 0 1 0")
            elif name == "zero_" and args[0].is_contiguous():
                recorder.write(f"fill {args[0].data_ptr()} {args[0].nbytes} 1 {args[0].nbytes} 0 1 0")
            elif name == "_local_scalar_dense" or (name == "_to_copy" and not after):
                recorder.write(f"download {before[0].data_ptr()} {before[0].nbytes}")
            elif name == "_to_copy" and not before:
                for one in after:
                    recorder.storage(one)
                    data = one.contiguous().cpu().view(torch.uint8).numpy().tobytes().hex()
                    recorder.write(f"upload {one.data_ptr()} {data or '-'} 0")
            else:
                recorder.refuse(f"it calls aten::{name}, which is no kernel of its own")

    return Watch()


def make_tensor(torch, spec):
    dtype = getattr(torch, DTYPES[spec["dtype"]])
    if dtype.is_floating_point:
        return torch.randn(spec["shape"], device="cuda").to(dtype)
    return torch.zeros(spec["shape"], dtype=dtype, device="cuda")


def place_results(torch, recorder, case, tensors, returned):
    """The lines that say where the call's tensors are; results take the place of the memory they were made in."""
    flat = [one for one in torch.utils._pytree.tree_leaves(returned) if isinstance(one, torch.Tensor)]
    head = []
    for index, spec in enumerate(case["tensors"]):
        if spec["role"] != "output" or spec["name"] in tensors and not flat:
            one = tensors[spec["name"]]
        elif flat:
            one = flat.pop(0)
            inputs = {given.untyped_storage().data_ptr() for given in tensors.values()}
            if one.untyped_storage().data_ptr() in inputs:
                recorder.refuse("the result is one of its inputs")
            if list(one.shape) != spec["shape"] or not one.is_contiguous() or str(one.dtype) != "torch." + DTYPES[spec["dtype"]]:
                recorder.refuse(f"the result has shape {list(one.shape)} and type {one.dtype}")
            base = one.untyped_storage().data_ptr()
            recorder.lines = [line for line in recorder.lines if not line.startswith(f"alloc {base} ")]
        else:
            recorder.refuse(f"nothing was returned for '{spec['name']}'")
            continue
        head.append(f"tensor {index} {one.data_ptr()} {one.nbytes}")
    return head


def record_case(torch, recorder, watch, candidate, case, out, begin):
    sets = [{spec["name"]: make_tensor(torch, spec) for spec in case["tensors"] if spec["role"] != "output" or candidate.writes}
            for _ in range(2)]
    begin()
    candidate.call(sets[0], case["numbers"])  # compiling and tuning are no part of a call
    torch.cuda.synchronize()
    alive = []
    for number in (0, 1, 0):
        begin()
        recorder.lines, recorder.inside = [], True
        recorder.known = {one.untyped_storage().data_ptr() for one in sets[number].values()}
        try:
            with watch:
                returned = candidate.call(sets[number], case["numbers"])
            torch.cuda.synchronize()
        except Refused as refused:
            returned = None
            recorder.refuse(str(refused))
        recorder.inside = False
        alive.append(returned)
        head = place_results(torch, recorder, case, sets[number], returned)
        out += [*head, "call", *recorder.lines, "end"]


def no_extensions():
    """Extensions have kernels that nobody here sees launched."""
    import torch.utils.cpp_extension as extensions

    def refused(*words, **named):
        raise Refused("kernels of a C++ extension beside Triton's")

    extensions.load = extensions.load_inline = refused


def main(job, answer_to):
    sys.path.insert(0, os.path.dirname(job["path"]))
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    import torch

    if not torch.cuda.is_available():
        json.dump({"error": "torch sees no GPU"}, answer_to)
        return
    torch.set_grad_enabled(False)
    recorder = Recorder()
    hook_triton(recorder)
    tuning = Tuning(job.get("tuned", {}))
    shift = torch.empty(random.SystemRandom().randrange(1, 64) << 21, dtype=torch.uint8, device="cuda")  # other addresses
    out, answer = ["kernelwright recording 1"], {}
    try:
        no_extensions()
        candidate = Candidate(job, lambda model: model.cuda().eval())
        watch = dispatch_mode(torch, recorder)
        for number, case in enumerate(job["cases"]):
            out.append(f"case {number}")
            candidate.prepare(case["numbers"])
            record_case(torch, recorder, watch, candidate, case, out, lambda: tuning.begin(number))
    except Refused as refused:
        answer["refused"] = str(refused)
    except Exception as error:  # a candidate that fails is an outcome
        answer["refused"] = f"it raised {type(error).__name__}: {error}".splitlines()[0][:400]
    del shift
    answer.update(recording="\n".join(out) + "\n", images=recorder.images, tuned=tuning.answer())
    json.dump(answer, answer_to)
    answer_to.flush()
    os._exit(0)  # its exit handlers have nothing to say
