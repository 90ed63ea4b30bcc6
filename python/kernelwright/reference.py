"""Any callable as a reference: written to a file that kernelwright reads, or exported by torch if it has no source.

Files go to the cache folder, named by a hash of their text, so that a run can be resumed later.
"""

from __future__ import annotations

import hashlib
import inspect
import keyword
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwright import _export, _source, tensors
from kernelwright.errors import InputError

#: What `inputs=` may be: descriptions, examples by name, examples by position.
Inputs = Sequence[Any] | Mapping[str, Any] | None
Reference = str | os.PathLike[str] | Callable[..., Any]


@dataclass(frozen=True)
class Prepared:
    """A reference on disk, and the facts that a call of its kernel needs."""

    path: str
    function: str = ""
    inputs: list[str] = field(default_factory=list)
    parameters: list[inspect.Parameter] = field(default_factory=list)
    weights: Callable[[], dict[str, Any]] | None = None
    made: list[Path] = field(default_factory=list)  # files that this class wrote

    def forget(self) -> None:
        """Removes the files that were written."""
        for path in self.made:
            path.unlink(missing_ok=True)

    def options(self) -> dict[str, Any]:
        """Options for any command that takes a reference."""
        return {"reference": self.path, "function": self.function or None, "input": self.inputs or None}


def cache_folder() -> Path:
    """The cache folder of kernelwright: $KERNELWRIGHT_CACHE, $XDG_CACHE_HOME/kernelwright, ~/.cache/kernelwright."""
    named = os.environ.get("KERNELWRIGHT_CACHE", "")
    if named.startswith("/"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "kernelwright"


def make_folder(folder: Path) -> None:
    """Makes the missing folders of a path, for their user alone whatever the umask."""
    for one in [*reversed(folder.parents), folder]:
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)


def keep(name: str, text: str, suffix: str = ".py") -> Path:
    """Writes the text to a permanent file, named by its hash."""
    folder = cache_folder() / "references" / hashlib.sha256(text.encode()).hexdigest()[:16]
    make_folder(folder)
    path = folder / f"{name}{suffix}"
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        partial.touch(mode=0o600)
        partial.write_text(text)
        partial.replace(path)
    return path


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """The parameters of a callable; empty for builtins that do not list them."""
    function = getattr(function, "forward", function)
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        names = _source.documented_parameters(function)
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]


def _named_inputs(inputs: Inputs, parameters: list[inspect.Parameter]) -> tuple[list[str], dict[str, Any]]:
    """Descriptions as given, and examples by name."""
    if inputs is None:
        return [], {}
    if isinstance(inputs, Mapping):
        said = [f"{name}:{value}" for name, value in inputs.items() if isinstance(value, str)]
        said += [f"{name}={value}" for name, value in inputs.items() if isinstance(value, (bool, int, float))]
        return said, {name: value for name, value in inputs.items() if not isinstance(value, (str, int, float))}
    if isinstance(inputs, str) or not isinstance(inputs, Sequence):
        inputs = [inputs]
    said = [value for value in inputs if isinstance(value, str)]
    rest = [value for value in inputs if not isinstance(value, str)]
    names = [one.name for one in parameters] or [f"x{i}" for i in range(len(rest))]
    if len(rest) > len(names):
        raise InputError(f"{len(rest)} inputs were given for a reference that takes {len(names)}")
    return said, dict(zip(names, rest, strict=False))


def _inputs_text(examples: Mapping[str, Any]) -> str:
    """Text of get_inputs() for examples: their dtypes and shapes, and the range of integers.

    Integers that are all below an extent of another tensor are treated as indices into it. The extent gets a name, so
    that they stay below it at other shapes.
    """
    views = {name: tensors.view(name, value) for name, value in examples.items()}
    shapes = {name: [str(extent) for extent in one.shape] for name, one in views.items()}
    named: dict[str, int] = {}
    rows = []
    ranges = {name: tensors.range_of(one, examples[name]) for name, one in views.items()}
    below: dict[str, str] = {}
    for name, found in ranges.items():
        owner = _indexed(name, found, views) if found is not None else None
        if owner is not None:
            word = f"{owner[0]}_{owner[1]}"
            named[word] = views[owner[0]].shape[owner[1]]
            shapes[owner[0]][owner[1]] = below[name] = word
    for name, one in views.items():
        rows.append(f'        "{name}": {tensors.maker_text(one, shapes[name], ranges[name], below.get(name))},')
    constants = [f"{word} = {extent}" for word, extent in named.items()]
    return "\n".join([*constants, "", "def get_inputs():", "    return {", *rows, "    }"]).lstrip("\n")


def _indexed(
    name: str, found: tuple[int, int], views: Mapping[str, tensors.View]
) -> tuple[str, int] | None:
    """The tensor and axis that integers of this range may index: a first axis, otherwise the shortest."""
    fits = [(axis != 0, extent, other, axis) for other, one in views.items() if other != name
            for axis, extent in enumerate(one.shape) if extent > found[1]]
    return min(fits)[2:] if fits and found[0] >= 0 and found[1] > 1 else None


def _bounds_text(rtol: float | None, atol: float | None) -> str:
    lines = [f"{name} = {value!r}" for name, value in (("rtol", rtol), ("atol", atol)) if value is not None]
    return "\n".join(lines)


def _from_path(reference: str | os.PathLike[str], inputs: Inputs) -> Prepared:
    path, function = os.fspath(reference), ""
    if not os.path.exists(path) and ":" in path:
        path, _, function = path.rpartition(":")
    if not os.path.exists(path):
        raise InputError(f"there is no file or folder {path}")
    said, examples = _named_inputs(inputs, [])
    said += [f"{name}:{tensors.spec_text(name, value)}" for name, value in examples.items()]
    return Prepared(os.path.abspath(path), function, said)


def _stem(reference: Any) -> str:
    name = getattr(reference, "__name__", type(reference).__name__)
    return name if name.isidentifier() and not keyword.iskeyword(name) else "reference"


def is_module(value: Any) -> bool:
    """Whether a value is an nn.Module, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _weights(module: Any) -> Callable[[], dict[str, Any]]:
    def current() -> dict[str, Any]:
        named = [*module.named_parameters(), *module.named_buffers()]
        return {weight_name(name): value.detach() for name, value in named}

    return current


def weight_name(name: str) -> str:
    """The name of a state dict entry in exported modules: 0.weight becomes _0_weight."""
    plain = re.sub(r"[^0-9A-Za-z_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def prepare(
    reference: Reference,
    inputs: Inputs = None,
    dims: Mapping[str, int] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> Prepared:
    """A reference of any kind as a file."""
    bounds = _bounds_text(rtol, atol)
    if isinstance(reference, (str, os.PathLike)):
        if bounds:
            raise InputError("correctness_rtol and correctness_atol must be in the file of the reference: write them "
                             "there as rtol = … and atol = …")
        return _from_path(reference, inputs)
    if not callable(reference):
        raise InputError(f"the reference must be a callable or a path, not {type(reference).__name__}")
    parameters = parameters_of(reference)
    said, examples = _named_inputs(inputs, parameters)
    weights, made = None, []
    try:
        text, function = _source.source_of(reference)
    except _source.Unwritable as why:
        program = _export.export(_source.unwrapped(reference), parameters, said, examples, dims or {}, str(why))
        text, function = _export.file_text(program), "REFERENCE"
        made.append(program)
        weights = _weights(reference) if is_module(reference) else None
    pieces = [text.rstrip(), bounds, _inputs_text(examples) if examples else ""]
    path = keep(_stem(reference), "\n\n".join(piece for piece in pieces if piece) + "\n")
    return Prepared(str(path), function, said, parameters, weights, [*made, path])
