"""Prepares one call: the callable, its arguments as tensors on the device, the weights of a model."""
import inspect

import torch

from kw_torch_worker import gradients, source, tensors
from kw_torch_worker.failures import Failure, a


def pin(request):
    """Resets the global switches of torch for each request; an earlier reference may have changed them."""
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(False)
    if torch.are_deterministic_algorithms_enabled():  # checked first: the call itself imports for seconds
        torch.use_deterministic_algorithms(False)
    pin_tf32(bool(request.get("allow_tf32", False)))
    torch.manual_seed(request.get("seed", 0))


def pin_tf32(allow):
    torch.backends.cuda.matmul.allow_tf32 = allow
    torch.backends.cudnn.allow_tf32 = allow


def tf32_is(allow):
    return torch.backends.cuda.matmul.allow_tf32 == allow and torch.backends.cudnn.allow_tf32 == allow


def device_of(request):
    name = request.get("device", "cpu")
    if name.startswith("cuda"):
        if not torch.cuda.is_available():
            raise Failure("NoCuda", f"torch {torch.__version__} sees no CUDA device")
        index = torch.device(name).index or 0
        if index >= torch.cuda.device_count():
            raise Failure("NoCuda", f"there is no {name}: torch sees {torch.cuda.device_count()} device(s)")
        torch.cuda.set_device(index)
    return torch.device(name)


def plain_value(value):
    """Values in requests that JSON cannot express."""
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        if "dtype" in value:
            return tensors.dtype_of(value["dtype"])
        if "float" in value:
            return float(value["float"])
        if "zeros" in value:
            return torch.zeros(value["zeros"]["shape"], dtype=tensors.dtype_of(value["zeros"]["dtype"]))
        if "tuple" in value:
            return tuple(plain_value(item) for item in value["tuple"])
        raise Failure("BadArguments", f"unknown value: {value}")
    return value


def argument(described, given, device):
    if "tensor" in described:
        return given[described["tensor"]].to(device)
    value = plain_value(described.get("value"))
    return value.to(device) if isinstance(value, torch.Tensor) else value


def bind(function, named):
    """Positional and keyword arguments for (name, value) pairs: by name if the names are parameters, otherwise by
    position."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # builtins have no signature
        return [value for _, value in named], {}
    takes_any = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    known = [name for name, _ in named if name in parameters and parameters[name].kind not in
             (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)]
    if not known:
        return [value for _, value in named], {}
    strangers = [name for name, _ in named if name not in known]
    if strangers and not takes_any:
        raise Failure("BadArguments", f"the reference has no parameter {strangers[0]!r}; "
                                      f"it has {', '.join(parameters)}")
    values, positional, keywords, gap = dict(named), [], {}, False
    for name, parameter in parameters.items():
        if name not in values:
            gap = True
        elif gap or parameter.kind == parameter.KEYWORD_ONLY:
            keywords[name] = values[name]
        else:
            positional.append(values[name])
    keywords.update({name: values[name] for name in strangers})
    return positional, keywords


def initial_arguments(module, request):
    if "init" in request:
        return plain_value(request["init"]), {}
    if not hasattr(module, "get_init_inputs"):
        return [], {}
    made = module.get_init_inputs()
    # KernelBench: a list of positional arguments; some files give [args, kwargs] or a dict.
    if isinstance(made, dict):
        return [], made
    if len(made) == 2 and isinstance(made[0], (list, tuple)) and isinstance(made[1], dict):
        return list(made[0]), made[1]
    return list(made), {}


def identifier(name):
    """The name of a weight in the tracer: 'net.0.bias' is net_0_bias, '0.bias' is _0_bias."""
    plain = name.replace(".", "_")
    return "_" + plain if plain[:1].isdigit() else plain


def state_names(model):
    """The names of the state dict, unchanged and as identifiers."""
    names = [name for name, _ in (*model.named_parameters(), *model.named_buffers())]
    return {**{identifier(name): name for name in names}, **{name: name for name in names}}


def put_weights(model, weights):
    """Fills parameters and buffers. Names are those of the state dict, unchanged or as identifiers."""
    owners, shared = {}, {}
    for prefix, owner in model.named_modules():
        for registry in (owner._parameters, owner._buffers):
            for name, value in registry.items():
                if value is not None:
                    full = f"{prefix}.{name}" if prefix else name
                    owners[full] = owners[identifier(full)] = value
                    shared.setdefault(id(value), []).append((registry, name))
    for full, value in weights:
        if full not in owners:
            known = sorted({name for name, _ in (*model.named_parameters(), *model.named_buffers())})
            raise Failure("BadArguments", f"the model has no weight {full!r}; it has {', '.join(known) or 'none'}")
        old = owners[full]
        if tuple(old.shape) != tuple(value.shape):
            raise Failure("BadArguments",
                          f"weight {full!r} has shape {list(old.shape)}, but {list(value.shape)} was given")
        if old.dtype == value.dtype and torch._debug_has_internal_overlap(old) != 1:
            old.data.copy_(value)  # ties and views that the model keeps see the new values
            continue
        if isinstance(old, torch.nn.Parameter):
            value = torch.nn.Parameter(value, requires_grad=False)
        for registry, name in shared[id(old)]:
            registry[name] = value


class Prepared:
    """A callable with all its arguments; `arguments` are (name, value) pairs."""

    def __init__(self, module, function, arguments, model=None):
        self.module, self.function, self.arguments, self.model = module, function, arguments, model
        self.args, self.kwargs = bind(model.forward if model is not None else function, arguments)

    def __call__(self):
        return self.function(*self.args, **self.kwargs)


class PreparedGradients(Prepared):
    """The same for gradients by autograd; the upstream gradients follow the `arguments`."""

    def __init__(self, request, module, function, arguments, model=None):
        own, self.upstream = gradients.split(request, arguments)
        super().__init__(module, function, own, model)
        self.request, self.arguments = request, arguments

    def __call__(self):
        own, _ = gradients.split(self.request, self.arguments)
        state = [(name, identifier(name), value) for name, value in self.model.named_parameters()] if self.model else []

        def call(leaves):
            args, kwargs = bind(self.model.forward if self.model is not None else self.function, leaves.arguments)
            with torch.enable_grad():
                if self.model is None:
                    returned = self.function(*args, **kwargs)
                else:
                    returned = torch.func.functional_call(self.model, leaves.weights, tuple(args), kwargs)
                outputs = gradients.named_outputs(self.request, returned, leaves.arguments, flatten)
                return leaves.gradients(self.request, outputs, self.upstream)
        return gradients.with_leaves(self.request, own, state, call)


def read_all(request, arena):
    return [tensors.read(arena, described) for described in request.get("tensors", [])]


def prepare(request, given):
    """`given`: the tensors of the request."""
    device = device_of(request)
    pin(request)
    described = request.get("source", {})
    module = source.load(described)
    found = source.find(module, described.get("entry", ""))
    weights = [(item["name"], argument(item, given, device)) for item in request.get("weights", [])]
    arguments = [(item["name"], argument(item, given, device)) for item in request.get("arguments", [])]
    model = None
    if isinstance(found, type) and issubclass(found, torch.nn.Module):
        args, kwargs = initial_arguments(module, request)
        found = found(*args, **kwargs)
    if isinstance(found, torch.nn.Module):
        model = found.to(device)
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        put_weights(model, weights)
    elif weights:
        raise Failure("BadArguments", f"weight {weights[0][0]!r} was given, but the reference is not an nn.Module")
    if not callable(found):
        raise Failure("NotFound", f"the reference is {a(found)}, which cannot be called")
    pin(request)  # again: the file may have changed them when it was loaded
    if request.get("gradients"):
        return PreparedGradients(request, module, found, arguments, model)
    return Prepared(module, found, arguments, model)


def flatten(returned, name=""):
    """(name, tensor) pairs of the results of a reference."""
    if isinstance(returned, torch.Tensor):
        if returned.layout != torch.strided:
            raise Failure("BadReturn", f"the reference returned a tensor of layout {returned.layout}")
        return [(name or "out", returned)]
    if isinstance(returned, dict):
        pairs = [(str(key), value) for key, value in returned.items()]
    elif isinstance(returned, tuple) and hasattr(returned, "_fields"):
        pairs = list(zip(returned._fields, returned))
    elif isinstance(returned, (list, tuple)):
        pairs = [(f"out{index}", value) for index, value in enumerate(returned)]
    else:
        raise Failure("BadReturn", f"the reference returned {a(returned)}{f' as {name}' if name else ''}, not a tensor")
    flat = []
    for key, value in pairs:
        if value is not None:  # an optional result that is missing
            flat += flatten(value, f"{name}.{key}" if name else key)
    if not flat and not name:
        raise Failure("BadReturn", "the reference returned no tensor")
    return flat


def outputs_of(request, returned):
    """The returned tensors, unless all outputs are written in place."""
    if request.get("gradients"):
        return flatten(returned)
    if request.get("written_only") or returned is None and request.get("written"):
        return []
    return flatten(returned)


def run(request, arena):
    call = prepare(request, read_all(request, arena))
    returned = call()
    if torch.device(request.get("device", "cpu")).type == "cuda":
        torch.cuda.synchronize()
    wanted = [] if request.get("gradients") else request.get("written", [])
    named = outputs_of(request, returned)
    for name in wanted:
        values = dict(call.arguments)
        if call.model is not None:
            values.update({key.replace(".", "_"): value for key, value in call.model.state_dict().items()})
            values.update(call.model.state_dict())
        if not isinstance(values.get(name), torch.Tensor):
            raise Failure("BadArguments", f"there is no tensor argument {name!r} to return")
        named.append((name, values[name]))
    return {"outputs": tensors.write(arena, named)}
