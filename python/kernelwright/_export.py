"""References that only torch can read: exported in this process, saved, and loaded by the torch process."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import operator
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelwright import tensors
from kernelwright.errors import InputError, MachineError

#: Extents for dims that the caller did not give: all different, none that torch treats as special.
EXTENTS = (36, 20, 28, 44, 52, 12, 60, 68)
_SPEC = re.compile(r"\s*(\w+)\s*:\s*(\w+)\s*\[(.*)\]\s*$")


def export(
    function: Any,
    parameters: list[inspect.Parameter],
    said: list[str],
    examples: Mapping[str, Any],
    dims: Mapping[str, int],
    why: str,
) -> Path:
    """Writes the exported program to a file. `why`: the reason why there is no source."""
    if importlib.util.find_spec("torch") is None:
        raise MachineError(f"{why}, and without torch it cannot be exported either")
    import torch

    names, arguments, symbols = _arguments(torch, parameters, said, examples, dims, why)
    module = function if isinstance(function, torch.nn.Module) else _Wrapper.of(torch, function, names)
    device = _device_of(torch, module)
    arguments = [one.to(device) if isinstance(one, torch.Tensor) else one for one in arguments]
    program = _exported(torch, module, arguments, symbols, why)
    return _save(torch, program)


def file_text(program: Path) -> str:
    """Python text whose REFERENCE is the exported program."""
    return (f"import torch\n\nREFERENCE = torch.export.load({str(program)!r}).module()\n"
            "REFERENCE.train = REFERENCE.eval = lambda mode=True: REFERENCE  # what was exported knows no modes")


class _Wrapper:
    """A callable as a module whose forward names its parameters; torch.export requires that."""

    @staticmethod
    def of(torch: Any, function: Any, names: list[str]) -> Any:
        scope: dict[str, Any] = {"function": function}
        exec(f"def forward(self, {', '.join(names)}):\n    return function({', '.join(names)})", scope)
        return type("Reference", (torch.nn.Module,), {"forward": scope["forward"]})()


def _device_of(torch: Any, module: Any) -> Any:
    for value in [*module.parameters(), *module.buffers()]:
        return value.device
    return torch.device("cpu")


def _arguments(
    torch: Any,
    parameters: list[inspect.Parameter],
    said: list[str],
    examples: Mapping[str, Any],
    dims: Mapping[str, int],
    why: str,
) -> tuple[list[str], list[Any], list[list[str]]]:
    """Names, example values and symbolic extents, in parameter order."""
    described: dict[str, tuple[Any, list[str]]] = {}
    for text in said:
        match = _SPEC.match(text)
        if match:
            described[match.group(1)] = _made(torch, match.group(2), match.group(3), dims)
    for name, value in examples.items():
        tensor = tensors.as_torch(torch, name, value)
        described[name] = (tensor, [f"{name}_{i}" for i in range(tensor.ndim)])
    order = [one.name for one in parameters if one.name in described]
    order += [name for name in described if name not in order]
    plain = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    last = max((i for i, one in enumerate(plain) if one.name in described), default=-1)
    missing = [one.name for i, one in enumerate(plain) if one.name not in described
               and (one.default is one.empty or i < last)]
    if missing or not order:
        name = missing[0] if missing else "x"
        raise InputError(f"{why}, so torch must export it, which needs the shape and dtype of {name!r}: "
                         f'pass inputs={{"{name}": "fp32[B, D]"}} or an example tensor')
    return order, [described[name][0] for name in order], [described[name][1] for name in order]


def _made(torch: Any, dtype: str, shape: str, dims: Mapping[str, int]) -> tuple[Any, list[str]]:
    extents = [part.strip() for part in shape.split(",") if part.strip()]
    values = dict(dims)
    for extent in extents:
        for name in re.findall(r"[A-Za-z_]\w*", extent):
            values.setdefault(name, EXTENTS[len(values) % len(EXTENTS)])
    sizes = [_extent(extent, values) for extent in extents]
    kind = tensors.torch_dtype(torch, dtype)
    if kind.is_floating_point:
        return torch.rand(sizes).to(kind), extents
    return torch.zeros(sizes, dtype=kind), extents


def _extent(text: str, values: Mapping[str, int]) -> int:
    try:
        tree = ast.parse(text.replace("/", "//"), mode="eval")
        return _value(tree.body, values)
    except (SyntaxError, KeyError, TypeError, ZeroDivisionError) as error:
        raise InputError(f"cannot read the extent {text!r}") from error


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    operations: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
                                   ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
    if isinstance(node, ast.BinOp) and type(node.op) in operations:
        return int(operations[type(node.op)](_value(node.left, values), _value(node.right, values)))
    raise TypeError("no arithmetic")


def _exported(torch: Any, module: Any, arguments: list[Any], symbols: list[list[str]], why: str) -> Any:
    dynamic = tuple({i: torch.export.Dim.AUTO for i, extent in enumerate(extents) if not extent.isdigit()}
                    for extents in symbols)
    problem: Exception | None = None
    with torch.no_grad():
        for shapes in (dynamic, None):  # references with fixed shapes are exported with fixed shapes
            try:
                return torch.export.export(module, tuple(arguments), dynamic_shapes=shapes, strict=False)
            except Exception as error:
                problem = problem or error
    reason = " ".join(str(problem).split())[:400]
    raise InputError(f"{why}, and torch.export refuses it: {type(problem).__name__}: {reason}") from problem


def _save(torch: Any, program: Any) -> Path:
    from kernelwright.reference import cache_folder, make_folder

    folder = cache_folder() / "references"
    make_folder(folder)
    partial = folder / f"{os.getpid()}.pt2"
    partial.touch(mode=0o600)
    torch.export.save(program, str(partial))
    digest = hashlib.sha256(partial.read_bytes()).hexdigest()[:16]
    path = folder / f"{digest}.pt2"
    partial.replace(path)
    return path
