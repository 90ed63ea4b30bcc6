"""Shared by both recording processes: the PyTorch operations that only allocate or view memory, and what a candidate is."""
import ast
import inspect
import linecache
import sys
import types

DTYPES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "int64": "int64", "int32": "int32",
          "int16": "int16", "int8": "int8", "uint8": "uint8", "bool": "bool"}
# Operations that allocate or view memory and compute nothing.
VIEWS = {"view", "_unsafe_view", "reshape", "as_strided", "expand", "permute", "transpose", "t", "unsqueeze", "squeeze", "slice",
         "select", "detach", "alias", "unbind", "split", "split_with_sizes", "chunk", "narrow", "flatten", "unflatten", "movedim",
         "lift_fresh", "_reshape_alias", "diagonal", "swapaxes", "swapdims", "unfold", "view_as", "expand_as"}
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
ZEROS = {"zeros", "zeros_like", "new_zeros"}


class Refused(Exception):
    """The candidate does something that cannot be replayed."""


def without_mark(text):
    """The text without a byte order mark: Python's parser takes one in a file's bytes, not in a text."""
    return text[1:] if text.startswith("\ufeff") else text


def with_dims(text, dims):
    """The text of a reference with these values for its file-level names: NAME = 1, A, B = 1, 2, and NAME_0 of NAME = (1, 2)."""
    def number(name, old):
        known = name in dims and isinstance(old, ast.Constant) and type(old.value) is int
        return ast.copy_location(ast.Constant(dims[name]), old) if known else old

    tree = ast.parse(without_mark(text))
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            node.value = number(target.id, value)
            if isinstance(value, (ast.Tuple, ast.List)):
                value.elts = [number(f"{target.id}_{i}", one) for i, one in enumerate(value.elts)]
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            value.elts = [number(getattr(name, "id", ""), one) for name, one in zip(target.elts, value.elts)]
    return tree


def init_words(job, module, numbers):
    """The constructor arguments of the model at one shape: from the reference, otherwise from the candidate's file."""
    asked = getattr(module, "get_init_inputs", None)
    if job.get("reference_text"):
        reference = types.ModuleType("reference")
        exec(compile(with_dims(job["reference_text"], numbers), "reference", "exec"), reference.__dict__)
        asked = getattr(reference, "get_init_inputs", asked)
    words = asked() if asked else []
    if isinstance(words, dict):
        return [], words
    if len(words) == 2 and isinstance(words[0], (list, tuple)) and isinstance(words[1], dict):
        return list(words[0]), words[1]
    return list(words), {}


class Candidate:
    """The entry point of the file: a ModelNew or a function. `place` moves a model to the device of its tensors."""

    def __init__(self, job, place):
        self.job, self.place, self.model, self.writes = job, place, None, False
        text = without_mark(job["text"])
        self.module = types.ModuleType(job.get("module") or "candidate")
        self.module.__file__ = job["path"]
        sys.modules[self.module.__name__] = self.module
        linecache.cache[job["path"]] = (len(text), None, text.splitlines(True), job["path"])  # for code that reads its own source
        exec(compile(text, job["path"], "exec"), self.module.__dict__)
        if hasattr(self.module, "ModelNew"):
            return
        names = [job.get("function"), "forward", "backward", "solve", job["task"]]
        self.function = next((getattr(self.module, name) for name in names if name and callable(getattr(self.module, name, None))), None)
        if self.function is None:
            raise Refused("the file has neither a ModelNew nor a function forward, backward or solve")
        self.writes = any(name in inspect.signature(self.function).parameters for name in job["outputs"])

    def prepare(self, numbers):
        """Makes the model of one shape."""
        if hasattr(self.module, "ModelNew"):
            words, named = init_words(self.job, self.module, numbers)
            self.model = self.place(self.module.ModelNew(*words, **named))

    def call(self, tensors, numbers):
        """Calls the candidate with tensors and numbers by the names of the task; returns its results."""
        if self.model is not None:
            return self.model(*self.arguments(tensors))
        words, left = [], [name for name in self.job["inputs"]]
        folded = {name.lower(): value for name, value in numbers.items()}
        for name in inspect.signature(self.function).parameters:
            if name in tensors:
                words.append(tensors[name])
                left = [one for one in left if one != name]
            elif name.lower() in folded:
                words.append(folded[name.lower()])
            elif left:
                words.append(tensors[left.pop(0)])
            else:
                raise Refused(f"its parameter '{name}' is not an input of the task")
        return self.function(*words)

    def arguments(self, tensors):
        """Gives the weights of the task to the model; the other tensors are its arguments."""
        rest, seen = dict(tensors), {}
        for path, holder in self.model.named_modules():
            for own in (holder._parameters, holder._buffers):
                for name, old in own.items():
                    full = f"{path}.{name}" if path else name
                    given = seen.get(id(old))
                    for spelled in (full, full.replace(".", "_")):
                        given = rest.pop(spelled, None) if given is None else given
                    if given is not None:
                        seen[id(old)] = given
                        self.put(own, name, given)
                    elif old is not None and name != "num_batches_tracked":
                        self.keep(holder, own, name, full)
        return [rest[name] for name in self.job["inputs"] if name in rest]

    def keep(self, holder, own, name, full):
        """Parameters that the task does not have. A buffer is a constant and keeps the value that the model gave it."""
        if own is holder._parameters:
            raise Refused(f"its parameter '{full}' is not one of the task's; a constant may be a buffer")

    def put(self, own, name, given):
        own[name].data = given
