"""einops: rearrange, reduce and repeat, as functions and as modules. Evaluated like a reference, by the same rules; never run."""
import torch
import torch.nn as nn
from kernelwright import names


def groups_of(side, rank):
    """'b (h w) ... 1' as lists of names, one per dim; the dims of '...' get their own names."""
    groups, group = [], None
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            group = []
        elif word == ")":
            groups.append(group)
            group = None
        elif word == "...":
            names = [f"...{i}" for i in range(rank)]
            if group is None:
                groups.extend([[name] for name in names])
            else:
                group.extend(names)
        elif group is None:
            groups.append([] if word == "1" else [word])
        elif word != "1":
            group.append(word)
    return groups


def sides_of(pattern, dims):
    sides = pattern.replace("->", ">").split(">")
    if len(sides) != 2:
        raise ValueError(f"the pattern '{pattern}' must have one ->")
    fixed = len(groups_of(sides[0], 0))
    if (fixed > dims) or (fixed < dims and "..." not in sides[0].replace("(", " ").replace(")", " ").split()):
        raise ValueError(f"the pattern '{pattern}' does not fit a tensor of {dims} dims")
    return groups_of(sides[0], dims - fixed), groups_of(sides[1], dims - fixed)


def transformed(tensor, pattern, reduction, sizes):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(tensor)
    left, right = sides_of(pattern, tensor.dim())
    shape, names = [], []
    for i, group in enumerate(left):
        known, missing = 1, None
        for name in group:
            if name in sizes:
                known = known * sizes[name]
            elif missing is not None:
                raise ValueError(f"the sizes of {missing} and {name} in '{pattern}' do not follow from the tensor")
            else:
                missing = name
        if missing is not None:
            sizes[missing] = tensor.shape[i] // known
            known = known * sizes[missing]
        if known != tensor.shape[i]:
            raise ValueError(f"'{pattern}': dim {i} has {tensor.shape[i]} elements, not {known}")
        shape.extend([sizes[name] for name in group])
        names.extend(group)
    x = tensor.reshape(shape)
    wanted = [name for group in right for name in group]
    gone = [i for i, name in enumerate(names) if name not in wanted]
    if gone and reduction is None:
        raise ValueError(f"'{pattern}' loses {names[gone[0]]}")
    if gone:
        if reduction == "prod":
            for i in reversed(gone):
                x = x.prod(i)
        elif reduction in ("sum", "mean", "max", "min", "any", "all"):
            reducer = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin, "any": torch.any, "all": torch.all}[reduction]
            x = reducer(x, tuple(gone))
        elif callable(reduction):
            x = reduction(x, tuple(gone))
        else:
            raise ValueError(f"einops knows no reduction '{reduction}'")
    names = [name for name in names if name in wanted]
    for name in wanted:
        if name not in names:
            if reduction is not None or name not in sizes:
                raise ValueError(f"'{pattern}' does not say where {name} comes from")
            x = x.unsqueeze(0).expand(sizes[name], *x.shape)
            names.insert(0, name)
    x = x.permute([names.index(name) for name in wanted])
    shape = []
    for group in right:
        extent = 1
        for name in group:
            extent = extent * sizes[name]
        shape.append(extent)
    return x.reshape(shape)


@names("einops.rearrange")
def rearrange(tensor, pattern, **axes_lengths):
    for name in axes_lengths:
        if name not in pattern.replace("(", " ").replace(")", " ").replace("->", " ").split():
            raise ValueError(f"'{pattern}' has no {name}")
    return transformed(tensor, pattern, None, axes_lengths)


@names("einops.repeat")
def repeat(tensor, pattern, **axes_lengths):
    return transformed(tensor, pattern, None, axes_lengths)


@names("einops.reduce")
def reduce(tensor, pattern, reduction, **axes_lengths):
    return transformed(tensor, pattern, reduction, axes_lengths)


@names("einops.layers.torch.Rearrange")
class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths

    def forward(self, x):
        return transformed(x, self.pattern, None, dict(self.axes_lengths))


@names("einops.layers.torch.Reduce")
class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths

    def forward(self, x):
        return transformed(x, self.pattern, self.reduction, dict(self.axes_lengths))
