"""Loads the file of a reference as a module and finds its callable. Nothing is kept between requests."""
import ast
import importlib
import importlib.abc
import importlib.util
import inspect
import itertools
import linecache
import os
import sys
import types

import torch

from kw_torch_worker.failures import Failure, Loading

MODULE = "kw_reference"
_make_module = torch.nn.Module.__init__
_numbers = itertools.count()  # every file has its own name: torch.compile remembers modules by name


def _give(target, value, values):
    """The value of `target = value` with the given names as constants: of one name, of `a, b = 1, 2`, and of elements, which
    are called name_0, name_1."""
    if isinstance(target, ast.Name) and target.id in values:
        return ast.copy_location(ast.Constant(values[target.id]), value)
    if not isinstance(value, (ast.Tuple, ast.List)):
        return value
    items = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    for i, item in enumerate(value.elts):
        if len(items) == len(value.elts):
            value.elts[i] = _give(items[i], item, values)
        elif isinstance(target, ast.Name) and f"{target.id}_{i}" in values:
            value.elts[i] = ast.copy_location(ast.Constant(values[f"{target.id}_{i}"]), item)
    return value


def _with_globals(tree, values):
    """Replaces the given names in top-level assignments by constants, so that values computed from them change too.
    Names that the file does not have are ignored: not every dim of a task is one."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else (
            [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value is not None else [])
        if len(targets) == 1:
            statement.value = _give(targets[0], statement.value, values)
    return ast.fix_missing_locations(tree)


def without_mark(text):
    """The text without a byte order mark: Python's parser takes one in a file's bytes, not in a text."""
    return text[1:] if text.startswith("\ufeff") else text


class Neighbours(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules in the folder of the reference, from texts in the request: this process cannot read files of the user."""

    def __init__(self, folder, texts):
        self.folder, self.texts = folder, texts

    def find_spec(self, name, path=None, target=None):
        place = name.replace(".", "/")
        package = any(file.startswith(place + "/") for file in self.texts)
        if not package and place + ".py" not in self.texts:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=package)

    def exec_module(self, module):
        module.__kw_neighbour__ = True
        place = module.__name__.replace(".", "/")
        file = place + "/__init__.py" if hasattr(module, "__path__") else place + ".py"
        module.__file__ = shown = os.path.join(self.folder, file)
        text = without_mark(self.texts.get(file, ""))
        linecache.cache[shown] = (len(text), None, text.splitlines(True), shown)
        exec(compile(text, shown, "exec"), module.__dict__)


def _forget_neighbours():
    """Forgets modules from the folder of an earlier reference: another folder may have modules of the same name."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__kw_neighbour__", False) or name.startswith(MODULE):
            del sys.modules[name]


def _make_evaluating(self, *args, **kwargs):
    _make_module(self, *args, **kwargs)
    self.training = False


def load(described):
    """Runs the file as a module. If a text is given, it is used instead of the content of the file.
    In eval mode every module is made in that mode, wherever the file makes it."""
    _forget_neighbours()
    torch.nn.Module.__init__ = _make_evaluating if described.get("evaluation") else _make_module
    path, text = described.get("path", ""), described.get("text")
    module = types.ModuleType(f"{MODULE}_{next(_numbers)}")
    if text is None and not path:
        return module
    try:
        return _load(module, path, text, described)
    except BaseException as error:
        raise Loading() from error


def _load(module, path, text, described):
    if text is None:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    text = without_mark(text)
    shown = os.path.abspath(path) if path else "<reference>"
    linecache.cache[shown] = (len(text), None, text.splitlines(True), shown)
    try:
        tree = ast.parse(text, shown)
    except (ValueError, RecursionError) as broken:  # a NUL byte, or nesting that is too deep
        raise Failure("BadSource", f"the reference is not Python: {broken}") from broken
    code = compile(_with_globals(tree, described.get("globals", {})), shown, "exec")
    module.__file__ = shown
    sys.modules[module.__name__] = module
    neighbours = Neighbours(os.path.dirname(shown), described.get("neighbours", {}))
    sys.meta_path.append(neighbours)
    try:
        exec(code, module.__dict__)
    finally:
        sys.meta_path.remove(neighbours)
    return module


def functions_of(module):
    """Names of the functions that the file itself defines, in order, without private ones."""
    return [name for name, value in vars(module).items()
            if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.__name__]


def _default(module):
    for name in ("Model", "reference", "REFERENCE"):
        if hasattr(module, name):
            return getattr(module, name)
    names = [name for name in functions_of(module) if name not in ("get_inputs", "get_init_inputs")]
    if len(names) == 1:
        return getattr(module, names[0])
    what = f"several functions ({', '.join(names)}); choose one with --function NAME" if names else "no function"
    raise Failure("NotFound", f"the reference has {what}")


def _dotted(entry):
    """torch.nn.functional.gelu, package.module.function."""
    parts = entry.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as missing:
            if missing.name and ".".join(parts[:cut]).startswith(missing.name):
                continue
            raise
        for part in parts[cut:]:
            if not hasattr(found, part):
                raise Failure("NotFound", f"{'.'.join(parts[:cut])} has no {part!r}")
            found = getattr(found, part)
        return found
    raise Failure("MissingModule", f"there is no module {parts[0]!r}")


def find(module, entry):
    """The callable: a name in the file, a dotted name anywhere, or an expression such as a lambda."""
    if not entry:
        return _default(module)
    first = entry.split(".")[0]
    if hasattr(module, first) and all(part.isidentifier() for part in entry.split(".")):
        found = module
        for part in entry.split("."):
            if not hasattr(found, part):
                raise Failure("NotFound", f"{first!r} has no {part!r}")
            found = getattr(found, part)
        return found
    if all(part.isidentifier() for part in entry.split(".")):
        if "." in entry:
            return _dotted(entry)
        names = functions_of(module)
        raise Failure("NotFound", f"the reference has no {entry!r}" + (f"; it has {', '.join(names)}" if names else ""))
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, **vars(module)}
    return eval(compile(entry, "<entry>", "eval"), scope)
