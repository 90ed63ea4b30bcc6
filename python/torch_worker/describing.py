"""Facts about a reference without calling it: parameters, the inputs that its file makes, weights."""
import inspect

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kw_torch_worker import calls, source, tensors
from kw_torch_worker.failures import Failure, a

PLAIN = (bool, int, float, str, type(None))


def value_json(value):
    """A value for the reply; if it is neither plain nor a tensor, its text."""
    if isinstance(value, torch.Tensor):
        name = tensors.NAMES.get(value.dtype, str(value.dtype))
        return {"dtype": name, "shape": [int(extent) for extent in value.shape]}
    if isinstance(value, float) and value not in (float("inf"), float("-inf")) and value == value:
        return {"value": value}
    if isinstance(value, float):
        return {"value": {"float": str(value)}}
    if isinstance(value, PLAIN):
        return {"value": value}
    if isinstance(value, (list, tuple)):
        return {"items": [value_json(item) for item in value]}
    if isinstance(value, torch.dtype) and value in tensors.NAMES:
        return {"value": {"dtype": tensors.NAMES[value]}}
    return {"text": repr(value)[:200]}


def parameters_of(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    described = []
    for parameter in parameters:
        item = {"name": parameter.name, "kind": parameter.kind.name.lower()}
        if parameter.default is not parameter.empty:
            item["default"] = value_json(parameter.default)
        if parameter.annotation is not parameter.empty:
            note = parameter.annotation
            item["annotation"] = note if isinstance(note, str) else inspect.formatannotation(note)
        described.append(item)
    return described


def without_memory(make):
    """Tensors with shapes and dtypes but without memory, if the code allows it; otherwise real tensors."""
    state = torch.get_rng_state()
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return make()
    except Exception:
        torch.set_rng_state(state)
        return make()


def weights_of(model):
    described = []
    for kind, named in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, value in named:
            described.append({"name": name, "kind": kind, "dtype": tensors.NAMES.get(value.dtype, str(value.dtype)),
                              "shape": [int(extent) for extent in value.shape]})
    return described


def describe(request, arena):
    calls.pin(request)
    described = request.get("source", {})
    module = source.load(described)
    found = source.find(module, described.get("entry", ""))
    reply = {"functions": source.functions_of(module),
             "constants": {name: value for name, value in vars(module).items()
                           if not name.startswith("_") and isinstance(value, (bool, int, float))
                           and value == value and abs(value) < 2 ** 62}}
    calls.pin(request)
    reply["entry"] = getattr(found, "__name__", type(found).__name__)
    if isinstance(found, type) and issubclass(found, torch.nn.Module):
        args, kwargs = calls.initial_arguments(module, request)
        reply["init"] = [value_json(value) for value in args]
        reply["init_keywords"] = {name: value_json(value) for name, value in kwargs.items()}
        make = found
        found = without_memory(lambda: make(*args, **kwargs))
    if isinstance(found, torch.nn.Module):
        reply.update(what="model", parameters=parameters_of(found.forward), weights=weights_of(found),
                     training=found.training)
    elif callable(found):
        reply.update(what="function", parameters=parameters_of(found))
    else:
        raise Failure("NotFound", f"the reference is {a(found)}, which cannot be called")
    if hasattr(module, "get_inputs"):
        made = without_memory(module.get_inputs)
        pairs = made.items() if isinstance(made, dict) else enumerate(made)
        names = [p["name"] for p in reply["parameters"] or []]
        reply["inputs"] = [{"name": names[key] if isinstance(key, int) and key < len(names) else str(key),
                            **value_json(value)} for key, value in pairs]
    return reply
