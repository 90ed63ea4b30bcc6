"""PyTorch's modes of computing a reference, timed on the GPU like candidates.

Each mode is captured as CUDA graphs with separate inputs; kernelwright's clock replays them as it replays candidates.
Modes that use CUDA graphs themselves can only be timed from the host.
"""
import json
import sys
import time

import torch

from kw_torch_worker import calls, clock, failures, gradients, source, tensors
from kw_torch_worker.failures import Failure

GRAPHED = {"eager": None, "compile": "default", "max-autotune-no-cudagraphs": "max-autotune-no-cudagraphs"}
HOST_ONLY = ("reduce-overhead", "max-autotune")
WARM_CALLS = 3
HOST_SAMPLES = 60
HOST_SECONDS = 0.5
MOST_COPIES = 100

_clock, _last = {}, {}


class Work:
    """A reference as a function of its tensors, in the order of the pool: arguments, then weights."""

    def __init__(self, request, given):
        self.request, self.ready = request, {}
        self.written = [] if request.get("gradients") else request.get("written", [])
        self.call = calls.prepare(request, given)
        names = calls.state_names(self.call.model) if self.call.model is not None else {}
        self.weights = [names[item["name"]] for item in request.get("weights", []) if "tensor" in item]
        # Tensors given as numbers (inputs that no gradient needs) stay numbers.
        self.tensor_arguments = [i for i, item in enumerate(request.get("arguments", [])) if "tensor" in item]

    def placed(self, values):
        """Weights by name, and the arguments with these values."""
        arguments = list(self.call.arguments)
        for place, value in zip(self.tensor_arguments, values):
            arguments[place] = (arguments[place][0], value)
        return dict(zip(self.weights, values[len(self.tensor_arguments):])), arguments

    def bound(self, values, signature):
        """Weights by name, positional and keyword arguments."""
        weights, arguments = self.placed(values)
        args, kwargs = calls.bind(signature, arguments)
        return weights, args, kwargs

    def gradients(self, values, signature, function):
        """A call that runs the reference and then autograd: PyTorch has no backward without a forward."""
        weights, arguments = self.placed(values)
        own, upstream = gradients.split(self.request, arguments)
        if self.call.model is not None:
            weights = {**dict(self.call.model.named_parameters()), **weights}
        state = [(name, calls.identifier(name), value) for name, value in weights.items()]

        def call(leaves):
            args, kwargs = calls.bind(signature, leaves.arguments)
            with torch.enable_grad():
                returned = function(leaves.weights, args, kwargs)
                outputs = gradients.named_outputs(self.request, returned, leaves.arguments, calls.flatten)
                return leaves.gradients(self.request, outputs, upstream)
        return lambda: gradients.with_leaves(self.request, own, state, call)

    def functions(self, mode):
        """The object that has the parameters, and the function to call with (weights, args, kwargs)."""
        if mode.startswith("py:"):
            other = source.find(self.call.module, mode[3:])
            return other, lambda weights, args, kwargs: other(*args, *weights.values(), **kwargs)
        model, function = self.call.model, self.call.function
        if model is None:
            return function, lambda weights, args, kwargs: function(*args, **kwargs)
        direct = mode in HOST_ONLY or mode == "direct"  # as a user would call it: the weights are in the model
        if direct and not self.request.get("gradients"):
            return model.forward, lambda weights, args, kwargs: model(*args, **kwargs)
        return model.forward, lambda weights, args, kwargs: torch.func.functional_call(
            model, weights, tuple(args), kwargs)

    def maker(self, mode):
        """Makes calls without arguments from tensors; compiled if the mode is one of torch.compile's."""
        if mode not in self.ready:
            signature, function = self.functions(mode)
            if GRAPHED.get(mode) or mode in HOST_ONLY:
                # torch runs a function with too many variants uncompiled, without a warning.
                if hasattr(torch._dynamo.config, "fail_on_recompile_limit_hit"):
                    torch._dynamo.config.fail_on_recompile_limit_hit = True
                function = torch.compile(function, mode=GRAPHED.get(mode, mode), dynamic=False)
            self.ready[mode] = signature, function
        signature, function = self.ready[mode]

        def make(values):
            if self.request.get("gradients"):
                return self.gradients(values, signature, function)
            weights, args, kwargs = self.bound(values, signature)
            return lambda: function(weights, args, kwargs)
        return make


def work_for(request, given):
    """Reuses the work of the last request if this one differs only in contents: compiled code stays."""
    def described(items):
        return [[item["name"], item.get("value"),
                 [str(given[item["tensor"]].dtype), list(given[item["tensor"]].shape)] if "tensor" in item else None]
                for item in items]
    key = json.dumps([request.get(name) for name in
                      ("source", "written", "written_only", "gradients", "allow_tf32", "device", "seed")]
                     + [described(request.get("arguments", [])), described(request.get("weights", []))])
    if _last.get("key") != key:
        _last.clear()
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        _last.update(work=Work(request, given), key=key)
    calls.pin(request)
    return _last["work"]


class Copy:
    """One captured call with separate inputs."""

    def __init__(self, work, make, values, pool, stream):
        self.inputs = [value.clone() for value in values]
        call = make(self.inputs)
        try:
            self.graph = torch.cuda.CUDAGraph(keep_graph=True)
        except TypeError as error:
            raise Failure("Unsupported", f"torch {torch.__version__} cannot keep a captured graph") from error
        self.returned = self._capture(call, pool, stream)
        self.named = calls.outputs_of(work.request, self.returned)
        names = [work.call.arguments[place][0] for place in work.tensor_arguments]
        self.named += [(name, self.inputs[names.index(name)]) for name in work.written if name in names]
        # The audit hashes the bytes of a tensor; a view has no memory of its own.
        self.outputs = [tensor for _, tensor in self.named if tensor.is_contiguous() and tensor.numel() > 0]

    def _capture(self, call, pool, stream):
        """Captures without torch.cuda.graph(), whose garbage collection at each capture takes long."""
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            self.graph.capture_begin(pool=pool)
            try:
                returned = call()
            except BaseException:
                try:
                    self.graph.capture_end()
                except RuntimeError:  # an aborted capture raises once more
                    pass
                raise
            self.graph.capture_end()
        return returned

    def replay(self):
        self.graph.replay()

    def bytes(self):
        return sum(tensor.numel() * tensor.element_size() for tensor in [*self.inputs, *self.outputs])


def shortest_us(call, samples=5):
    shortest = float("inf")
    for _ in range(samples):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        end.synchronize()
        shortest = min(shortest, start.elapsed_time(end) * 1000)
    return shortest


def host_us(call):
    """Microseconds from call to completion, one per sample."""
    torch.compiler.cudagraph_mark_step_begin()  # its first use imports slowly
    samples, begun = [], time.perf_counter()
    while len(samples) < HOST_SAMPLES and (len(samples) < 5 or time.perf_counter() - begun < HOST_SECONDS):
        torch.compiler.cudagraph_mark_step_begin()
        torch.cuda.synchronize()
        start = time.perf_counter()
        kept = call()
        torch.cuda.synchronize()
        samples.append((time.perf_counter() - start) * 1e6)
        del kept
    return samples


def copies_wanted(first, protocol, device):
    """The same rule as for candidates: enough copies that none finds the data of another in L2."""
    if shortest_us(first.replay) > 4 * protocol.get("graph_below_us", 50):
        return 1
    touched = max(1, first.bytes())
    l2_bytes = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
    wanted = min(max(protocol.get("graph_copies", 10), 2 * l2_bytes // touched + 1), MOST_COPIES)
    free, _ = torch.cuda.mem_get_info(device)
    return max(1, min(wanted, free // 2 // touched))


def warm(make, values):
    call = make([value.clone() for value in values])
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_CALLS):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def forget_workspaces():
    """cuBLAS keeps a workspace per stream. A workspace that was allocated outside a capture belongs to no graph: other
    modes free it, and a graph that has its address would write to freed memory. A workspace that a capture allocates is
    in the memory pool of the graph and lives as long as the graph."""
    if hasattr(torch._C, "_cuda_clearCublasWorkspaces"):
        torch._C._cuda_clearCublasWorkspaces()


def capture(work, make, values, protocol, device):
    pool, stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()
    torch.cuda.synchronize()
    forget_workspaces()
    copies = [Copy(work, make, values, pool, stream)]
    wanted = copies_wanted(copies[0], protocol, device)
    copies += [Copy(work, make, values, pool, stream) for _ in range(wanted - 1)]
    return copies


def latency(work, mode, make, values):
    """Time as the host sees it; none for the compiled form of a model that takes its weights as arguments, because
    users do not call that form."""
    if work.call.model is not None and mode in GRAPHED:
        if GRAPHED[mode]:
            return []
        make = work.maker("direct")
        warm(make, values)
    return host_us(make([value.clone() for value in values]))


def outputs_of(mode, copy, values):
    """The results of the mode for the first entry of the pool, which are judged like those of a candidate."""
    for target, value in zip(copy.inputs, values):
        target.copy_(value)
    copy.replay()
    torch.cuda.synchronize()
    return [(f"{mode}/{name}", tensor.detach().to("cpu")) for name, tensor in copy.named]


def the_clock(data, device):
    index = device.index or 0
    if index not in _clock:
        _clock[index] = clock.Clock(data, index)
    return _clock[index]


class Session:
    def __init__(self, request, arena):
        self.request = request
        self.device = calls.device_of(request)
        if self.device.type != "cuda":
            raise Failure("NoCuda", "baselines are timed on a GPU")
        first = request["more"]
        given = calls.read_all(request, arena)
        self.more = given[first:]
        self.inputs = [self.more[index].to(self.device) for index in request["inputs"]]
        self.pool = [[self.inputs[index] for index in entry] for entry in request["pool"]]
        self.work = work_for(request, given)
        self.modes, self.baselines, self.kept = [], [], []  # of the current round
        self.results, self.results_complete = [], False

    def frame(self, index):
        return tensors.raw_bytes(self.more[index])

    def add(self, mode):
        entry = {"mode": mode, "kind": "Ok", "message": "", "traceback": ""}
        self.modes.append(entry)
        try:
            self._add(mode, entry)
        except Exception as error:
            entry.update(failures.describe(error))
            torch.cuda.synchronize()  # a broken context is detected here
        calls.pin(self.request)

    def _add(self, mode, entry):
        values = self.pool[0]
        if mode not in GRAPHED and mode not in HOST_ONLY and not mode.startswith("py:"):
            raise Failure("BadArguments", f"there is no mode {mode!r}")
        make = self.work.maker(mode)
        warm(make, values)
        entry["host_us"] = latency(self.work, mode, make, values)
        if not calls.tf32_is(bool(self.request.get("allow_tf32", False))):
            raise Failure("Unsupported", "it switches TF32, which must be the same for all that are compared")
        if mode in HOST_ONLY:
            return
        copies = capture(self.work, make, values, self.request.get("protocol", {}), self.device)
        if self.request.get("want_outputs") and not self.results_complete:
            self.results += outputs_of(mode, copies[0], values)
        entry.update(order=len(self.baselines), copies=len(copies))
        self.kept.append(copies)
        self.baselines.append(clock.baseline(mode, copies, self.pool))

    def round(self, timer, frame):
        """Captures every mode again, so that addresses differ between rounds, and times them."""
        self.modes, self.baselines = [], []
        for mode in self.request["modes"]:
            self.add(mode)
        torch.cuda.synchronize()
        return timer.ask(frame, self.inputs, self.baselines)

    def end_round(self):
        self.baselines = []
        self.kept.clear()
        forget_workspaces()
        torch.cuda.empty_cache()

    def run(self):
        timer = the_clock(self.frame(self.request["library"]), self.device)
        replies = [timer.ask(self.frame(index)) for index in self.request["loads"]]
        rounds = []
        for index in self.request["rounds"]:
            try:
                replies.append(self.round(timer, self.frame(index)))
            finally:
                self.end_round()
            rounds.append(self.modes)
            self.results_complete = True
            if timer.lost():
                break
        named = [(f"reply{i}", torch.frombuffer(bytearray(reply), dtype=torch.uint8))
                 for i, reply in enumerate(replies)]
        return {"rounds": rounds, "fatal": timer.lost(), "named": named + self.results}


def baselines(request, arena):
    reply = Session(request, arena).run()
    named = reply.pop("named")
    reply["outputs"] = tensors.write(arena, named)
    return reply
