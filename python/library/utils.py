"""torch.nn.utils: weights that are computed again in every call. Evaluated like a reference, by the same rules; never run."""
import torch
import torch.nn as nn
from kernelwright import names


class Parts(nn.Module):
    """The entries of module.parametrizations."""


def length_along(v, dim):
    """The norm of every slice along one dim; None: of the whole tensor."""
    dims = [i for i in range(v.dim()) if dim is None or i != dim % v.dim()]
    return torch.linalg.vector_norm(v, 2, dims, keepdim=dim is not None)


def parameters_of(weight, dim):
    shape = [] if dim is None else [extent if i == dim % weight.dim() else 1 for i, extent in enumerate(weight.shape)]
    return nn.Parameter(torch.empty(shape, dtype=weight.dtype)), nn.Parameter(torch.empty(weight.shape, dtype=weight.dtype))


@names("torch.nn.utils.weight_norm")
def weight_norm(module, name="weight", dim=0):
    g, v = parameters_of(getattr(module, name), dim)
    delattr(module, name)
    setattr(module, name + "_g", g)
    setattr(module, name + "_v", v)

    def made(module, inputs):
        v = getattr(module, name + "_v")
        setattr(module, name, v * (getattr(module, name + "_g") / length_along(v, dim)))

    module.register_forward_pre_hook(made)
    return module


@names("torch.nn.utils.parametrizations.weight_norm")
def parametrized_weight_norm(module, name="weight", dim=0):
    g, v = parameters_of(getattr(module, name), dim)
    delattr(module, name)
    if not hasattr(module, "parametrizations"):
        module.parametrizations = Parts()
    parts = Parts()
    parts.original0 = g
    parts.original1 = v
    setattr(module.parametrizations, name, parts)

    def made(module, inputs):
        parts = getattr(module.parametrizations, name)
        setattr(module, name, parts.original1 * (parts.original0 / length_along(parts.original1, dim)))

    module.register_forward_pre_hook(made)
    return module
