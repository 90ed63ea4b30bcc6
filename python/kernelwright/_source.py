"""The source of a callable as a separate file: the callable, and everything of its module that it names.

A name becomes an import, a constant, or source. Any other value (a tensor, a model, an open file) cannot be written as
source and raises `Unwritable`.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import enum
import functools
import importlib
import inspect
import math
import re
import symtable
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any

#: Decorators that do not change what is computed.
HARMLESS = {"torch.no_grad", "torch.inference_mode", "torch.compile", "torch.jit.script", "torch.jit.ignore",
            "torch.compiler.disable", "staticmethod", "typing.no_type_check", "no_grad", "inference_mode"}
NAMESPACES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft", "math", "operator")


class Unwritable(Exception):
    """The callable, or a value it names, cannot be written as source."""


def unwrapped(function: Any) -> Any:
    """The function that the user wrote, without wrappers such as torch.compile."""
    for _ in range(16):
        inner = getattr(function, "_torchdynamo_orig_callable", None) or getattr(function, "_orig_mod", None)
        if inner is None:
            return function
        function = inner
    return function


def public_name(value: Any) -> str | None:
    """The public dotted name of a value in a library: torch.nn.functional.gelu."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    home = getattr(value, "__module__", None) or ""
    short = (name or "").rpartition(".")[2]
    for space in NAMESPACES:
        module = sys.modules.get(space)
        if module is not None and short and getattr(module, short, None) is value:
            return f"{space}.{short}"
    module = sys.modules.get(home)
    if module is None or home == "__main__" or not name or "<" in name:
        return None
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{home}.{name}" if found is value else None


def documented_parameters(function: Any) -> list[str]:
    """Parameters of a torch builtin, from the first line of its documentation; empty if inspect knows them."""
    try:
        inspect.signature(function)
        return []
    except (TypeError, ValueError):
        pass
    name, text = getattr(function, "__name__", ""), getattr(function, "__doc__", None) or ""
    match = re.match(rf"\s*{re.escape(name)}\(([^()]*)\) ->", text)
    required = [part.strip() for part in match.group(1).split(",")] if match else []
    required = required[:required.index("*")] if "*" in required else required
    names = [part for part in required if "=" not in part]
    return names if all(part.isidentifier() for part in names) else []


def is_library(module_name: str) -> bool:
    """Whether a module is installed, rather than written by the user."""
    top = module_name.partition(".")[0]
    if top in ("torch", "numpy") or top in sys.stdlib_module_names:
        return top != "__main__"
    module = sys.modules.get(module_name)
    return "site-packages" in (getattr(module, "__file__", None) or "")


def constant_text(value: Any) -> str | None:
    """A value as Python text; None if it is not a constant."""
    if value is None or isinstance(value, (bool, str, bytes)):
        return repr(value)
    if isinstance(value, enum.Enum):
        return None
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else f'float("{float(value)}")'
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        items = [constant_text(item) for item in value]
        if any(item is None for item in items):
            return None
        inner = ", ".join(item for item in items if item is not None)
        return f"({inner}{',' if len(items) == 1 else ''})" if isinstance(value, tuple) else f"[{inner}]"
    if type(value) is dict:
        pairs = [(constant_text(key), constant_text(item)) for key, item in value.items()]
        if any(key is None or item is None for key, item in pairs):
            return None
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if type(value).__name__ == "dtype" and type(value).__module__ == "torch":
        return str(value)
    return None


def names_in(text: str) -> list[str]:
    """Names that a text uses but does not define, in order of appearance."""
    seen: dict[str, None] = {}

    def look(table: symtable.SymbolTable, top: bool) -> None:
        for symbol in table.get_symbols():
            outside = symbol.is_global() or (top and not symbol.is_assigned())
            if symbol.is_referenced() and outside:
                seen[symbol.get_name()] = None
        for child in table.get_children():
            look(child, False)

    look(symtable.symtable(text, "<reference>", "exec"), True)
    return list(seen)


def lambda_source(function: types.FunctionType) -> str:
    """The text of a lambda, cut out of its file."""
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError) as error:
        raise Unwritable("the source of the lambda was not found") from error
    text = "".join(lines)
    code = function.__code__
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)
             and node.lineno == code.co_firstlineno and _same_parameters(node, code)]
    if len(found) > 1 and hasattr(code, "co_positions"):
        columns = [(line, column) for line, _, column, _ in code.co_positions() if line and column is not None]
        found = [node for node in found if any(_covers(node, line, column) for line, column in columns)]
        found.sort(key=lambda node: -node.col_offset)  # the innermost
    if not found:
        raise Unwritable("the lambda was not found among those on its line")
    segment = ast.get_source_segment(text, found[0])
    if segment is None:
        raise Unwritable("the source of the lambda was not found")
    return " ".join(segment.split("\n")) if "\n" in segment else segment


def _same_parameters(node: ast.Lambda, code: types.CodeType) -> bool:
    given = [one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    return tuple(given) == code.co_varnames[:len(given)] and len(given) == code.co_argcount + code.co_kwonlyargcount


def _covers(node: ast.Lambda, line: int, column: int) -> bool:
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or body.lineno, body.end_col_offset or 0)
    return start <= (line, column) < end


def _dotted(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


class Writer:
    """Collects the pieces of one file."""

    def __init__(self) -> None:
        self._imports: dict[str, None] = {"import torch": None}
        self._future: list[str] = []
        self._pieces: list[str] = []
        self._values: dict[str, Any] = {}

    def text(self, last: str = "") -> str:
        """The file."""
        parts = [*self._future, "\n".join(self._imports), *self._pieces, *([last] if last else [])]
        return "\n\n".join(parts) + "\n"

    def add(self, name: str, value: Any) -> None:
        """Writes the value of a name, once."""
        if name in self._values:
            if self._values[name] is not value:
                raise Unwritable(f"the name {name!r} has two different values")
            return
        self._values[name] = value
        value = unwrapped(value)
        if isinstance(value, types.ModuleType):
            self._import_module(name, value)
        elif (constant := constant_text(value)) is not None:
            self._pieces.append(f"{name} = {constant}")
        elif self._import_public(name, value):
            return
        elif isinstance(value, types.FunctionType):
            self.add_function(name, value)
        elif isinstance(value, type):
            self._add_class(name, value)
        else:
            raise Unwritable(f"{name!r} is {_a(value)}, which cannot be written as source")

    def _import_module(self, name: str, module: types.ModuleType) -> None:
        if not is_library(module.__name__):
            raise Unwritable(f"{name!r} is the module {module.__name__}, which only your program can import")
        path = module.__name__
        self._imports[f"import {path}" if path == name else f"import {path} as {name}"] = None

    def _import_public(self, name: str, value: Any) -> bool:
        public = public_name(value)
        if public is None or not is_library(public.rpartition(".")[0]):
            return False
        home, _, short = public.rpartition(".")
        # A class inside a class has no module of its own to be imported from.
        if home not in sys.modules and not _importable(home):
            return False
        self._imports[f"from {home} import {short}" + ("" if short == name else f" as {name}")] = None
        return True

    def add_function(self, name: str, function: types.FunctionType) -> None:
        """A function of the user, with all that it names."""
        self._values[name] = function
        if function.__code__.co_flags & __future__.annotations.compiler_flag:
            self._future = ["from __future__ import annotations"]  # names in annotations need not exist
        if function.__name__ == "<lambda>":
            text = lambda_source(function)
            self._add_names(text, _scope_of(function))
            self._pieces.append(f"{name} = {text}")
            return
        text, tree = _parsed(function, ast.FunctionDef)
        assert isinstance(tree, ast.FunctionDef)
        kept = [f"@{ast.unparse(one)}" for one in tree.decorator_list if _dotted(one) not in HARMLESS]
        text = "\n".join([*kept, *text.splitlines()[tree.lineno - 1:]])
        self._add_names(text, _scope_of(function), function.__name__)
        self._pieces.append(text)
        if function.__name__ != name:
            self._pieces.append(f"{name} = {function.__name__}")

    def _add_class(self, name: str, value: type) -> None:
        text, _ = _parsed(value, ast.ClassDef)
        home = sys.modules.get(value.__module__)
        self._add_names(text, vars(home) if home is not None else {}, value.__name__)
        self._pieces.append(text)
        if value.__name__ != name:
            self._pieces.append(f"{name} = {value.__name__}")

    def _add_names(self, text: str, scope: Mapping[str, Any], own: str = "") -> None:
        for name in names_in(text):
            if name == own or name not in scope:
                continue
            if hasattr(builtins, name) and scope[name] is getattr(builtins, name):
                continue
            self.add(name, scope[name])


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _a(value: Any) -> str:
    kind = type(value).__name__
    return f"a{'n' if kind[:1].lower() in 'aeiou' else ''} {kind}"


def _scope_of(function: types.FunctionType) -> dict[str, Any]:
    """Globals, overlaid with the closure of the function."""
    scope = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not yet set
            continue
    return scope


def _parsed(value: Any, kind: type) -> tuple[str, ast.stmt]:
    try:
        text = textwrap.dedent(inspect.getsource(value)).rstrip()
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError) as error:
        raise Unwritable(f"the source of {getattr(value, '__name__', value)!r} was not found") from error
    if not isinstance(tree, kind):
        raise Unwritable(f"the source of {getattr(value, '__name__', value)!r} is not a definition")
    return text, tree


def _partial_text(writer: Writer, function: functools.partial[Any]) -> str:
    writer.add("partial_of", function.func)
    fixed = [constant_text(value) for value in function.args]
    named = {name: constant_text(value) for name, value in function.keywords.items()}
    if any(one is None for one in [*fixed, *named.values()]):
        raise Unwritable("an argument fixed by the partial is not a constant")
    names = [one.name for one in inspect.signature(function).parameters.values()
             if one.name not in named and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    given = [str(one) for one in fixed] + names + [f"{name}={value}" for name, value in named.items()]
    return f"def reference({', '.join(names)}):\n    return partial_of({', '.join(given)})"


def source_of(function: Callable[..., Any]) -> tuple[str, str]:
    """The text of a file that defines the callable, and the name in that file. Raises `Unwritable`."""
    function = unwrapped(function)
    writer = Writer()
    public = public_name(function)
    if public is not None and is_library(public.rpartition(".")[0]) and not isinstance(function, type):
        home = public.rpartition(".")[0]
        names = documented_parameters(function)
        if names:
            call = f"def reference({', '.join(names)}):\n    return {public}({', '.join(names)})"
            return writer.text(call if home == "torch" else f"import {home}\n\n{call}"), "reference"
        return writer.text(f"import {home}\n\nREFERENCE = {public}" if home != "torch" else f"REFERENCE = {public}"), \
            "REFERENCE"
    if isinstance(function, functools.partial):
        return writer.text(_partial_text(writer, function)), "reference"
    if isinstance(function, types.FunctionType):
        name = "REFERENCE" if function.__name__ == "<lambda>" else function.__name__
        writer.add_function(name, function)
        return writer.text(), name
    if isinstance(function, type):
        for name in ("get_inputs", "get_init_inputs"):
            found = vars(sys.modules.get(function.__module__, types.ModuleType(""))).get(name)
            if isinstance(found, types.FunctionType):
                writer.add(name, found)
        writer.add(function.__name__, function)
        return writer.text(), function.__name__
    raise Unwritable(f"the reference is {_a(function)}, which has no source")
