"""Compares the parameters of every PyTorch function and module that the front end knows with the installed torch.

usage: schemas.py LISTER FILE

LISTER prints our names and signatures (list_signatures.cpp). For each parameter of ours, torch must have one of that
name, at that place, with that default, in its Python signature or in one of its schemas. FILE lists differences that
are meant: 'NAME PARAMETER reason'. A listed difference that is gone is an error too, so that the list stays short.
"""
import ast
import inspect
import os
import re
import subprocess
import sys
import warnings

try:
    warnings.simplefilter("ignore")  # torch without numpy
    import torch
except ImportError:
    beside = os.path.join(os.path.dirname(sys.argv[1]), "..", "..", "torch-venv", "bin", "python")
    other = os.environ.get("KW_TORCH_PYTHON", beside)
    if os.path.exists(other) and "KW_NO_OTHER_PYTHON" not in os.environ:
        os.execve(other, [other, "-B", *sys.argv], {**os.environ, "KW_NO_OTHER_PYTHON": "1"})
    print("no Python here can import torch")
    sys.exit(0)

NONE = "(none)"  # no default
# Torch spells the first tensor of a method `self`; `input` in functions.
FIRST = {"self": "input", "x": "input"}
ALIASES = {"keepdims": "keepdim", "axis": "dim"}


def ours(text):
    """[(name, default, by keyword only)] of "input, k, dim=-1, *, out=None" or of a Python signature."""
    arguments = ast.parse(f"def f({text}): pass").body[0].args
    positional = arguments.posonlyargs + arguments.args
    defaults = [NONE] * (len(positional) - len(arguments.defaults)) + [ast.unparse(d) for d in arguments.defaults]
    found = [(a.arg, d, False) for a, d in zip(positional, defaults)]
    if arguments.vararg is not None:
        found.append((arguments.vararg.arg, NONE, False))
    found += [(a.arg, NONE if d is None else ast.unparse(d), True) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return found


def plain(value):
    """A default as text in which equal values are equal: 1, 1.0, (1,), [1, 1], 'mean'."""
    if value is inspect.Parameter.empty:
        return NONE
    if isinstance(value, str) and value == NONE:
        return NONE
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, (int, float)):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        items = {plain(item) for item in value}
        return items.pop() if len(items) == 1 else repr([plain(item) for item in value])
    return repr(value)


def literal(text):
    if text == NONE:
        return NONE
    try:
        return plain(eval(text, {"torch": torch, "inf": float("inf"), "math": __import__("math")}))
    except Exception:
        return text


def from_signature(function):
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return []
    return [[(p.name, plain(p.default), p.kind == p.KEYWORD_ONLY) for p in parameters if p.kind != p.VAR_KEYWORD]]


def from_schemas(operator):
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(operator):
        found.append([(a.name, plain(a.default_value) if a.has_default_value() else NONE, a.kwarg_only)
                      for a in schema.arguments])
    return found


def from_docs(function):
    """Builtins without a signature have it in the first line of their documentation: 'cross(input, other, *, dim=-1)'."""
    doc = (getattr(function, "__doc__", None) or "").strip().split("\n")[0]
    inside = re.match(r"^[\w.]+\((.*)\)\s*(->.*)?$", doc)
    if not inside:
        return []
    try:
        return [[(n, literal(d), k) for n, d, k in ours(inside[1])]]
    except SyntaxError:
        return []


def overloads(name):
    """Every signature that torch has for one of our names; None when torch has no such name."""
    home, _, word = name.rpartition(".")
    place = {"F": torch.nn.functional, "Tensor": torch.Tensor, "torch": torch}.get(home)
    if place is None:
        place = torch
        for part in home.split(".")[1:] if home.startswith("torch.") else ["no such place"]:
            place = getattr(place, part, None)
    function = getattr(place, word, None)
    if function is None:
        return None
    if isinstance(function, type):
        return from_signature(function)
    prefix = {"torch.linalg": "linalg_", "torch.special": "special_", "torch.fft": "fft_"}.get(home, "")
    found = from_signature(function)
    if not found or home in ("torch", "Tensor"):
        documented = from_docs(function)
        if home == "Tensor":  # without the tensor itself
            documented = [[("self", NONE, False)] + one for one in documented]
        found = found + from_schemas(f"aten::{prefix}{word}") + documented
    for inner in ("_" + word, word + "_with_indices"):
        if not found and hasattr(place, inner):
            found = from_signature(getattr(place, inner))
    return found


def same_name(mine, theirs):
    def one(name):
        return ALIASES.get(FIRST.get(name, name), FIRST.get(name, name))
    return one(mine) == one(theirs)


def differences(name, signature, found):
    """[(parameter, what)] for the parameters that no overload of torch has in this way."""
    problems = []
    for place, (mine, default, keyword) in enumerate(ours(signature)):
        if mine == "memory_format":  # the layout in memory is not part of what is computed
            continue
        here = [(at, p) for params in found for at, p in enumerate(params) if same_name(mine, p[0])]
        if not here:
            problems.append((mine, "torch has no such parameter"))
            continue
        if not keyword and all(p[2] for _, p in here):
            problems.append((mine, "torch takes it by keyword only"))
        elif not keyword and all(at != place for at, p in here if not p[2]):
            problems.append((mine, f"at place {place}, torch has it at {sorted({at for at, p in here if not p[2]})}"))
        wanted = literal(default)
        theirs = {p[1] for _, p in here}
        # One row of ours stands for several overloads: None means the one without this parameter.
        absent = NONE in theirs or "[]" in theirs or any(all(not same_name(mine, p[0]) for p in one) for one in found)
        if wanted not in theirs and not (wanted == "None" and absent):
            problems.append((mine, f"default {default}, torch has {sorted(theirs)}"))
    return problems


def main(lister, listed):
    meant = {}
    with open(listed, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, parameter, reason = line.rstrip("\n").split(None, 2)
                meant[name, parameter] = reason
    seen, failures, compared = set(), [], 0
    for line in subprocess.run([lister], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, name, signature = line.split("\t")
        if kind == "module":
            cls = getattr(torch.nn, name, None)
            found = from_signature(cls) if cls is not None else None
            name = "nn." + name
        elif name.split(".")[0] not in ("torch", "F", "Tensor"):
            continue  # of this program
        else:
            found = overloads(name)
        if found is None:
            problems = [("-", "torch has no such name")]
        else:
            compared += bool(found)
            problems = differences(name, signature, found) if found else []
        for parameter, what in problems:
            if (name, parameter) in meant:
                seen.add((name, parameter))
            else:
                failures.append(f"{name} {parameter}: {what}")
    failures += [f"{name} {parameter}: listed, but torch {torch.__version__} does not differ"
                 for name, parameter in meant if (name, parameter) not in seen]
    print("\n".join(failures))
    print(f"{compared} names compared with torch {torch.__version__}, {len(seen)} differences listed, {len(failures)} found")
    if compared < 500:
        print("too few names were compared")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
