"""torch.export's graph as plain JSON (docs/torch-worker.md): nodes, arguments, shapes, where each was written."""
import contextlib
import operator
import re
import traceback

import torch
from torch.export import Dim

from kw_torch_worker import calls, tensors
from kw_torch_worker.failures import Failure, a
from kw_torch_worker.symbols import Symbols

FORMAT = "kernelwright-aten-1"


class Wrapper(torch.nn.Module):
    """torch.export needs a module whose forward names its parameters; a0, a1, … are the names of ours."""

    def __init__(self, call):
        super().__init__()
        self.f = call.function
        self.positional, self.keywords = len(call.args), list(call.kwargs)

    def call(self, *values):
        given = dict(zip(self.keywords, values[self.positional:]))
        return self.f(*values[:self.positional], **given)

    @classmethod
    def make(cls, call):
        names = ", ".join(f"a{i}" for i in range(len(call.args) + len(call.kwargs)))
        scope = {}
        exec(f"def forward(self{', ' if names else ''}{names}):\n    return self.call({names})", scope)
        return type("Reference", (cls,), {"forward": scope["forward"]})(call)


def argument_names(call):
    """Names of the arguments, in the order of the wrapper."""
    by_identity = {id(value): name for name, value in call.arguments}
    unnamed = [by_identity.get(id(value), f"a{i}") for i, value in enumerate(call.args)]
    positional = [name for name, _ in call.arguments if name not in call.kwargs]
    return (positional if len(positional) == len(call.args) else unnamed) + list(call.kwargs)


def dynamic_shapes(values, names, dims):
    wanted = {}
    for item in dims:
        wanted.setdefault(item["argument"], {})[item["dim"]] = item["name"]
    shapes = {}
    for index, (name, value) in enumerate(zip(names, values)):
        if isinstance(value, torch.Tensor) and name in wanted:
            shapes[f"a{index}"] = {dim: Dim.AUTO for dim in wanted[name]}
        else:
            shapes[f"a{index}"] = torch.utils._pytree.tree_map(lambda _: None, value)
    return shapes


@contextlib.contextmanager
def lines_of(path):
    """While exporting, nodes keep the frames of this file; torch itself keeps only those of forward()."""
    base = torch.fx.proxy.TracerBase
    original = getattr(base, "_filter_traceback_frames", None)
    if original is not None:
        base._filter_traceback_frames = lambda self, stack: traceback.StackSummary.from_list(
            [frame for frame in stack if frame.filename == path])
    try:
        yield
    finally:
        if original is not None:
            base._filter_traceback_frames = original


def exported(call, dims, decompose):
    """The exported program, and notes about shapes that could not stay symbolic."""
    with lines_of(getattr(call.module, "__file__", "")):
        return _exported(call, dims, decompose)


def _exported(call, dims, decompose):
    names = argument_names(call)
    values = [*call.args, *call.kwargs.values()]
    wrapper, notes = Wrapper.make(call), []
    if call.model is not None:
        wrapper.train(call.model.training)
    program = None
    if dims:
        try:
            program = torch.export.export(wrapper, tuple(values), dynamic_shapes=dynamic_shapes(values, names, dims),
                                          strict=False)
        except Exception as error:
            notes.append(f"shapes are fixed: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
    try:
        if program is None:
            program = torch.export.export(wrapper, tuple(values), strict=False)
        if decompose:
            program = program.run_decompositions()
    except MemoryError:
        raise
    except Exception as error:
        raise Failure("Unsupported", f"torch.export refuses it: {type(error).__name__}: "
                                     f"{' '.join(str(error).split())[:400]}") from error
    return program, notes


class Exporter:
    def __init__(self, program, call, dims, path):
        self.program, self.call, self.path = program, call, path
        self.names = argument_names(call)
        self.symbols = Symbols()
        self.constants = []  # (name, tensor)
        self.inputs = self._inputs(dims)

    def _inputs(self, dims):
        placeholders = [node for node in self.program.graph.nodes if node.op == "placeholder"]
        wanted = {(item["argument"], item["dim"]): item["name"] for item in dims}
        described, specs = [], self.program.graph_signature.input_specs
        for spec, node in zip(specs, placeholders):
            if spec.kind.name == "USER_INPUT" and isinstance(node.meta.get("val"), torch.Tensor):
                for dim, extent in enumerate(node.meta["val"].shape):
                    self.symbols.name(extent, wanted.get((self._user_name(node), dim)))
        for spec, node in zip(specs, placeholders):
            value = node.meta.get("val")
            if not isinstance(value, torch.Tensor):
                continue  # a number: its uses have its value
            kind = {"USER_INPUT": "input", "PARAMETER": "parameter", "BUFFER": "buffer"}.get(spec.kind.name, "constant")
            target = self._user_name(node) if kind == "input" else self._strip(spec.target)
            if kind == "constant":
                self.constants.append((target, self.program.constants[spec.target]))
            described.append({"node": node.name, "kind": kind, "name": target, **self._type(value)})
        return described

    @staticmethod
    def _strip(target):
        return target[2:] if target.startswith("f.") else target

    def _user_name(self, node):
        match = re.fullmatch(r"a(\d+)(?:_(.*))?", node.name)
        if not match or int(match.group(1)) >= len(self.names):
            return node.name
        return self.names[int(match.group(1))] + (f".{match.group(2)}" if match.group(2) else "")

    def _type(self, value):
        return {"dtype": tensors.name_of(value.dtype), "shape": [self.symbols.extent(n) for n in value.shape]}

    def _argument(self, value):
        if isinstance(value, torch.fx.Node):
            held = value.meta.get("val")
            if isinstance(held, (torch.SymInt, torch.SymFloat, torch.SymBool, bool, int, float)):
                return self._argument(held)
            if value.target is operator.getitem and not isinstance(value.args[0].meta.get("val"), torch.Tensor):
                return {"node": value.args[0].name, "index": value.args[1]}
            return {"node": value.name}
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.symbols.argument(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        if isinstance(value, float) and (value != value or abs(value) == float("inf")):
            return {"float": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, torch.dtype):
            return {"dtype": tensors.name_of(value)}
        for kind, word in ((torch.device, "device"), (torch.layout, "layout"), (torch.memory_format, "memory_format")):
            if isinstance(value, kind):
                return {word: str(value)}
        raise Failure("Unsupported", f"an argument of type {type(value).__name__} in the exported graph")

    def place(self, node):
        """The innermost line of the reference's file in the stack of the node."""
        for file, line in reversed(re.findall(r'File "(.*?)", line (\d+)', node.meta.get("stack_trace") or "")):
            if file == self.path:
                return int(line)
        return 0

    def _node(self, node):
        if not isinstance(node.target, torch._ops.OpOverload):
            raise Failure("Unsupported", f"the exported graph calls {getattr(node.target, '__name__', node.target)}, "
                                         "which is not an ATen operation")
        held = node.meta.get("val")
        results = held if isinstance(held, (list, tuple)) else [held]
        names = [argument.name for argument in node.target._schema.arguments]
        return {"name": node.name, "op": str(node.target), "line": self.place(node),
                "args": [self._argument(value) for value in node.args], "parameters": names[:len(node.args)],
                "kwargs": {key: self._argument(value) for key, value in node.kwargs.items()},
                "results": [self._type(value) if isinstance(value, torch.Tensor) else None for value in results]}

    def nodes(self):
        described = []
        for node in self.program.graph.nodes:
            held = node.meta.get("val")
            is_shape = isinstance(held, (torch.SymInt, torch.SymFloat, torch.SymBool, bool, int, float))
            if node.op == "get_attr":
                raise Failure("Unsupported", f"the exported graph has a subgraph, {node.target!r} "
                                             "(control flow over tensors)")
            if node.op != "call_function" or is_shape or node.target is operator.getitem or held is None:
                continue
            described.append(self._node(node))
        return described

    def outputs(self):
        values = next(node for node in self.program.graph.nodes if node.op == "output").args[0]
        user, described = [], []
        for spec, value in zip(self.program.graph_signature.output_specs, values):
            if spec.kind.name == "USER_OUTPUT":
                user.append(value)
                continue
            target = spec.target
            if spec.kind.name == "USER_INPUT_MUTATION":
                target = next(self._user_name(n) for n in self.program.graph.nodes if n.name == spec.target)
            described.append({"kind": "mutation", "target": self._strip(target), "value": self._argument(value)})
        shaped = torch.utils._pytree.tree_unflatten(user, self.program.call_spec.out_spec)
        named = [] if shaped is None else _named(shaped, "")  # None: its writes count
        return [{"kind": "output", "name": name, "value": self._argument(value)} for name, value in named] + described


def _named(value, name):
    """Names of results, as in calls.flatten."""
    if isinstance(value, torch.fx.Node):
        return [(name or "out", value)]
    if isinstance(value, dict):
        pairs = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        pairs = list(zip(value._fields, value))
    elif isinstance(value, (list, tuple)):
        pairs = [(f"out{index}", item) for index, item in enumerate(value)]
    else:
        raise Failure("BadReturn", f"the reference returned {a(value)}, not a tensor")
    return [pair for key, item in pairs if item is not None for pair in _named(item, f"{name}.{key}" if name else key)]


def export(request, arena):
    call = calls.prepare(request, calls.read_all(request, arena))
    dims = request.get("dims", [])
    program, notes = exported(call, dims, request.get("decompose", True))
    exporter = Exporter(program, call, dims, getattr(call.module, "__file__", ""))
    graph = {"format": FORMAT, "torch": torch.__version__, "inputs": exporter.inputs, "nodes": exporter.nodes(),
             "results": exporter.outputs(), "notes": notes}
    graph["dims"] = exporter.symbols.values()
    return {"graph": graph, "outputs": tensors.write(arena, exporter.constants)}
