"""A kernel module as a function of tensors: CUDA tensors in this process, CPU tensors on the virtual GPU."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import json
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright import _library, tensors
from kernelwright.errors import InputError
from kernelwright.results import TensorArg
from kernelwright.tensors import BY_NAME, CUDA, MANAGED, View

PLANS_KEPT = 512


class _Plan:
    """A module prepared for one set of shapes on one device."""

    def __init__(self, kernel: int, request: dict[str, Any]) -> None:
        found = _library.library()
        self.handle = _library.handle(found, found.kw_kernel_plan(kernel, _library.text_of(request)))
        self._free = weakref.finalize(self, found.kw_plan_free, self.handle)
        described = json.loads(found.kw_plan_describe(self.handle).decode())
        self.buffers: list[dict[str, Any]] = described["buffers"]
        self.device: str = described["device"]
        self.kept: dict[tuple[int, str], tuple[Any, View]] = {}  # scratch that stays zero, by stream


class Kernel:
    """A kernel module that can be called like the function it was made for.

    `kernel(x, weight)` takes torch CUDA tensors: the work is queued on torch's current stream, and torch allocates the
    outputs. After a first call with the same shapes it may be captured in a CUDA graph. It also takes torch CPU
    tensors, NumPy arrays, objects with `__dlpack__` and plain buffers; the virtual GPU runs these and checks every
    access.
    Arguments are those of the reference, or the inputs of the module in the order it declares them. Scalars have
    defaults. `out=` names your own memory for the outputs.

    Tensors must fit the domain of the module: dtype, shape, contiguity (or the strides it declares), alignment.
    Otherwise InputError is raised. No tensor is copied or converted silently, and autograd records nothing.
    """

    def __init__(
        self,
        source: str | Path,
        *,
        tunes: Mapping[str, int] | None = None,
        target: str = "",
        compiler: str = "",
        parameters: Sequence[inspect.Parameter] = (),
        weights: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        """`source`: the module's file or its text. `target`: the architecture of the virtual GPU; "" = sm_90."""
        text, name = _read(source)
        found = _library.library()
        options = {"text": text, "file_name": name, "tunes": dict(tunes or {}), "compiler": compiler}
        self._handle = _library.handle(found, found.kw_kernel_open(_library.text_of(options)))
        self._free = weakref.finalize(self, found.kw_kernel_free, self._handle)
        described = json.loads(found.kw_kernel_describe(self._handle).decode())
        self.source = text
        self.tunes = dict(tunes or {})
        self.task: str = described["task"]
        self.dims: list[str] = described["dims"]
        self.scalars: dict[str, Any] = {one["name"]: one["default"] for one in described["scalars"]}
        self._scalar_types = {one["name"]: one["dtype"] for one in described["scalars"]}
        self._tensors: dict[str, dict[str, Any]] = {one["name"]: one for one in described["tensors"]}
        self._given = [name for name, one in self._tensors.items() if one["role"] != "output"]
        self._target = target
        self._weights = weights
        self._parameters = self._usable(parameters)
        self._plans: OrderedDict[Any, _Plan] = OrderedDict()
        self._again: dict[Any, _Again] = {}
        self._lock = threading.Lock()

    @property
    def inputs(self) -> list[TensorArg]:
        """The tensors it takes."""
        return [_argument(self._tensors[name]) for name in self._given]

    @property
    def outputs(self) -> list[TensorArg]:
        """The tensors it returns."""
        return [_argument(one) for one in self._tensors.values() if one["role"] == "output"]

    def __repr__(self) -> str:
        def listed(arguments: list[TensorArg]) -> str:
            return ", ".join(f"{one.name}: {one.dtype}[{', '.join(one.shape)}]" for one in arguments)

        return f"<kernel {self.task}({listed(self.inputs)}) -> {listed(self.outputs)}>"

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Runs the kernel. Returns its output, or a tuple of several; without outputs, the tensors it updated."""
        layout = _layout(args) if out is None and not kwargs and self._weights is None else None
        if layout is not None and layout in self._again:
            return _returned(*self._again[layout].run(args))
        given, scalars, dims = self._bind(args, kwargs)
        views = {name: tensors.view(name, value) for name, value in given.items()}
        first = self._check_together(views)
        plan = self._plan(first, views, scalars, dims)
        call = _Call(plan, first, views)
        made = call.run(out)
        if layout is not None and len(given) == len(args):
            self._remember(layout, call, list(given))
        return _returned(made, [given[name] for name in given if self._tensors[name]["role"] == "inout"])

    def _remember(self, layout: Any, call: _Call, names: list[str]) -> None:
        """Keeps the plan of a call, for calls that differ only in addresses and contents."""
        if any(buffer["fill"] == "kept" for buffer in call.plan.buffers):
            return
        if len(self._again) >= PLANS_KEPT:
            self._again.clear()
        self._again[layout] = _Again(call, names)

    def _usable(self, parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
        """The parameters of the reference, if they contain the inputs of the module by name."""
        plain = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        names = {one.name for one in plain}
        bound = set(self._weights()) if self._weights is not None else set()
        return plain if all(name in names or name in bound for name in self._given) else []

    def _order(self) -> list[str]:
        if self._parameters:
            return [one.name for one in self._parameters if one.kind is not one.KEYWORD_ONLY]
        return [*self._given, *self.scalars]

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str], dict[str, int]]:
        """Arguments by their role in the module: tensors, scalars, dims."""
        order = self._order()
        if len(args) > len(order):
            raise InputError(f"{len(args)} arguments for a kernel that takes {', '.join(order)}")
        named = dict(zip(order, args, strict=False))
        for name, value in kwargs.items():
            if name in named:
                raise InputError(f"{name!r} was given twice")
            named[name] = value
        given, scalars, dims = {}, {}, {}
        for name, value in named.items():
            if name in self._given:
                if value is not None:
                    given[name] = value
            elif name in self._scalar_types:
                scalars[name] = self._scalar_text(name, value)
            elif name in self.dims:
                dims[name] = int(value)
            else:
                self._check_fixed(name, value)
        self._add_weights(given)
        missing = [name for name in self._given if name not in given and not self._tensors[name]["optional"]]
        if missing:
            raise InputError(f"{', '.join(missing)} not given; the kernel is {self!r}")
        return given, scalars, dims

    def _add_weights(self, given: dict[str, Any]) -> None:
        if self._weights is None or all(name in given for name in self._given):
            return
        place = next((value.device for value in given.values() if hasattr(value, "device")), None)
        for name, value in self._weights().items():
            if name in self._given and name not in given:
                given[name] = value.to(place).contiguous() if place is not None else value

    def _check_fixed(self, name: str, value: Any) -> None:
        """A parameter that the module does not take must have the value that it was judged with."""
        found = [one for one in self._parameters if one.name == name]
        if not found:
            raise InputError(f"the kernel has no input {name!r}; it is {self!r}")
        if found[0].default is not found[0].empty and not tensors.is_tensor(value) and value == found[0].default:
            return
        raise InputError(f"{name!r} is fixed in this kernel"
                         + (f" at {found[0].default!r}" if found[0].default is not found[0].empty else ""))

    def _scalar_text(self, name: str, value: Any) -> str:
        if hasattr(value, "item"):
            value = value.item()
        dtype = BY_NAME[self._scalar_types[name]]
        whole = dtype.code in (0, 1, 6)
        if not isinstance(value, (bool, int, float)) or (whole and isinstance(value, float)):
            raise InputError(f"{name!r} is {value!r}, but the kernel needs a number of type {dtype.name}")
        return str(int(value)) if whole else repr(float(value))

    @staticmethod
    def _check_together(views: dict[str, View]) -> View:
        if not views:
            raise InputError("a kernel needs at least one tensor argument")
        (first_name, first), *others = views.items()
        for name, one in others:
            if one.on_host != first.on_host or (one.device_id != first.device_id and not one.on_host):
                raise InputError(f"{first_name!r} is on {_place(first)}, {name!r} on {_place(one)}; "
                                 "the tensors of a kernel must be on one device")
        return first

    def _plan(self, first: View, views: dict[str, View], scalars: dict[str, str], dims: dict[str, int]) -> _Plan:
        place = ("virtual", 0) if first.on_host else ("cuda", first.device_id)
        strided = tuple((name, one.strides) for name, one in views.items() if self._tensors[name]["strides"])
        shapes = tuple((name, one.shape) for name, one in views.items())
        key = (place, shapes, strided, tuple(scalars.items()), tuple(dims.items()))
        with self._lock:
            found = self._plans.get(key)
            if found is not None:
                self._plans.move_to_end(key)
                return found
            _refuse_capture()
            self._check_types(views)
            made = _Plan(self._handle, {
                "device": place[0], "ordinal": place[1], "target": self._target,
                "shapes": {name: list(shape) for name, shape in shapes},
                "strides": {name: list(one) for name, one in strided},
                "scalars": scalars, "dims": dims,
                "absent": [name for name in self._given if name not in views],
            })
            self._plans[key] = made
            while len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
            return made

    def _check_types(self, views: dict[str, View]) -> None:
        """Checks tensors before anything is compiled for them."""
        for name, one in views.items():
            wanted = self._tensors[name]
            if one.dtype.name != wanted["dtype"]:
                raise InputError(f"{name!r} is {one.dtype.name}, but the kernel needs {wanted['dtype']}")
            if len(one.shape) != len(wanted["shape"]):
                raise InputError(f"{name!r} has {len(one.shape)} dimensions, but the kernel needs "
                                 f"[{', '.join(wanted['shape'])}]")


class _Call:
    """One run of a plan."""

    def __init__(self, plan: _Plan, first: View, views: dict[str, View]) -> None:
        self.plan, self.first, self._views = plan, first, views
        self.structs: list[_library.Tensor | None] = []
        self._stream = _current_stream(first)
        self._held: list[Any] = []

    def run(self, out: Any) -> list[Any]:
        """The outputs."""
        made: list[Any] = []
        wanted = self._given_outputs(out)
        for buffer in self.plan.buffers:
            if buffer["role"] == "output":
                value, seen = wanted.pop(0) if wanted else self._allocated(buffer)
                made.append(value)
                self.structs.append(seen.struct())
            elif buffer["role"] == "scratch":
                self.structs.append(self._scratch(buffer))
            else:
                held = self._views.get(buffer["name"])
                self.structs.append(held.struct() if held is not None else None)
        _run(self.plan, _array(self.structs), self._stream)
        return made

    def _given_outputs(self, out: Any) -> list[tuple[Any, View]]:
        if out is None:
            return []
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        names = [one["name"] for one in self.plan.buffers if one["role"] == "output"]
        if len(given) != len(names):
            raise InputError(f"out= has {len(given)} tensors for {len(names)} outputs")
        return [(value, tensors.view(name, value)) for name, value in zip(names, given, strict=True)]

    def _allocated(self, buffer: dict[str, Any]) -> tuple[Any, View]:
        dtype = BY_NAME[buffer["dtype"]]
        made, seen = tensors.allocate(self.first, dtype, buffer["shape"], buffer["strides"],
                                      buffer["bytes"] // dtype.size)
        # A plain buffer cannot express every dtype and shape; those of the kernel are used.
        seen.dtype, seen.shape = dtype, tuple(buffer["shape"])
        seen.strides = tuple(buffer["strides"]) or tensors.dense_strides(seen.shape)
        return made, seen

    def _scratch(self, buffer: dict[str, Any]) -> _library.Tensor | None:
        if self.first.on_host or buffer["bytes"] == 0:
            return None
        key = (self._stream or 0, buffer["name"])
        held = self.plan.kept.get(key) if buffer["fill"] == "kept" else None
        if held is None:
            held = tensors.allocate(self.first, BY_NAME["uint8"], [buffer["bytes"]], [], buffer["bytes"])
            if buffer["fill"] == "kept":
                held[0].zero_()
                if not _capturing():  # the graph owns this memory
                    self.plan.kept[key] = held
        self._held.append(held)
        return held[1].struct()


class _Again:
    """Repeats an earlier call with torch tensors: only the addresses are new."""

    def __init__(self, call: _Call, names: list[str]) -> None:
        self._plan, self._first, self._structs = call.plan, call.first, call.structs
        places = {buffer["name"]: i for i, buffer in enumerate(call.plan.buffers)}
        self._slots = [call.structs[places[name]] for name in names]
        self._updated = [i for i, name in enumerate(names) if call.plan.buffers[places[name]]["role"] == "inout"]
        self._outputs = [(call.structs[i], one, tensors.torch_dtype(sys.modules["torch"], one["dtype"]))
                         for i, one in enumerate(call.plan.buffers) if one["role"] == "output"]
        self._scratch = [(call.structs[i], one) for i, one in enumerate(call.plan.buffers)
                         if one["role"] == "scratch" and call.structs[i] is not None]
        self._array = _array(call.structs)
        self._lock = threading.Lock()  # the structs are shared

    def run(self, args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        """The outputs, and the tensors that were updated in place."""
        torch: Any = sys.modules["torch"]
        device = args[0].device
        made, held = [], []
        with self._lock:
            for struct, one in zip(self._slots, args, strict=True):
                struct.data = one.data_ptr()  # type: ignore[union-attr]
            for struct, buffer, dtype in self._outputs:
                if buffer["strides"]:
                    made.append(torch.empty_strided(buffer["shape"], buffer["strides"], dtype=dtype, device=device))
                else:
                    made.append(torch.empty(buffer["shape"], dtype=dtype, device=device))
                struct.data = made[-1].data_ptr()  # type: ignore[union-attr]
            for struct, buffer in self._scratch:
                held.append(torch.empty(buffer["bytes"], dtype=torch.uint8, device=device))
                struct.data = held[-1].data_ptr()  # type: ignore[union-attr]
            _run(self._plan, self._array, _current_stream(self._first))
        return made, [args[i] for i in self._updated]


def _array(structs: list[_library.Tensor | None]) -> Any:
    return (_library.TensorPointer * len(structs))(*[
        ctypes.pointer(one) if one is not None else _library.TensorPointer() for one in structs])


def _run(plan: _Plan, array: Any, stream: int | None) -> None:
    found = _library.library()
    if found.kw_plan_run(plan.handle, array, len(array), stream) != 0:
        _library.fail(found)


def _returned(made: list[Any], updated: list[Any]) -> Any:
    values = made or updated
    return values[0] if len(values) == 1 else tuple(values) or None


def _layout(args: tuple[Any, ...]) -> Any:
    """All facts of torch tensors that a plan depends on; None if there are other tensors."""
    torch = sys.modules.get("torch")
    if torch is None or not args or not all(isinstance(one, torch.Tensor) for one in args):
        return None
    try:
        return tuple((one.shape, one.stride(), one.dtype, one.device) for one in args)
    except RuntimeError:  # sparse tensors have no strides; the slow path raises the error
        return None


def _read(source: str | Path) -> tuple[str, str]:
    if isinstance(source, Path) or "\n" not in source:
        path = Path(source)
        try:
            return path.read_text(), path.name
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"reading {path}: {error}") from error
    return source, "kernel.cu"


def _argument(one: dict[str, Any]) -> TensorArg:
    layout = "any" if one["strides"] else "row_major"
    return TensorArg(one["name"], one["dtype"], tuple(one["shape"]), layout, one["optional"])


def _place(one: View) -> str:
    if one.on_host:
        return "the CPU"
    return f"cuda:{one.device_id}" if one.device_type in (CUDA, MANAGED) else f"a device of kind {one.device_type}"


def _current_stream(first: View) -> int | None:
    torch = sys.modules.get("torch")
    if first.on_host or torch is None:
        return None
    return int(torch.cuda.current_stream(first.device_id).cuda_stream) or None


def _capturing() -> bool:
    torch = sys.modules.get("torch")
    with contextlib.suppress(AttributeError, RuntimeError):
        return torch is not None and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
    return False


def _refuse_capture() -> None:
    if _capturing():
        raise InputError("this kernel has not run with these shapes yet; call it once before capturing a CUDA graph, "
                         "so that it is compiled and loaded")

