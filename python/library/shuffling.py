"""Elements moved in blocks, halves and turns. Evaluated like a reference, by the same rules; never run."""
import torch
from aten import library
from kernelwright import op

LARGEST_FACTOR = 1 << 20  # its square fits 64 bits


def moved(x, split, order, joined):
    """The last three dims, split into five and put into that order."""
    batch = list(x.shape[:-3])
    turned = x.reshape(batch + split).permute(list(range(len(batch))) + [len(batch) + i for i in order])
    return turned.reshape(batch + joined)


@op("F.pixel_shuffle torch.pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: int):
    """Moves channels to blocks of pixels; pixel_unshuffle moves them back."""
    refusal = "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor"
    r = library.concrete(upscale_factor)
    if input.dim() < 3 or r < 1 or r > LARGEST_FACTOR:
        raise RuntimeError(refusal)
    channels, h, w = input.shape[-3:]
    library.need_multiple(channels, r * r, refusal)
    c = channels // (r * r)
    return moved(input, [c, r, r, h, w], (0, 3, 1, 4, 2), [c, h * r, w * r])


@op("F.pixel_unshuffle torch.pixel_unshuffle")
def pixel_unshuffle(input: Tensor, downscale_factor: int):
    refusal = "pixel_unshuffle expects height and width to be divisible by downscale_factor"
    r = library.concrete(downscale_factor)
    if input.dim() < 3 or r < 1 or r > LARGEST_FACTOR:
        raise RuntimeError(refusal)
    c, height, width = input.shape[-3:]
    library.need_multiple(height, r, refusal)
    library.need_multiple(width, r, refusal)
    h, w = height // r, width // r
    return moved(input, [c, h, r, w, r], (0, 2, 4, 1, 3), [c * (r * r), h, w])


@op("F.channel_shuffle torch.channel_shuffle")
def channel_shuffle(input: Tensor, groups: int):
    refusal = "Number of channels must be divisible by groups"
    groups = library.concrete(groups)
    if input.dim() < 3:
        raise RuntimeError(refusal)
    library.need_multiple(input.shape[1], groups, refusal)
    return input.unflatten(1, (groups, input.shape[1] // groups)).transpose(1, 2).reshape(input.shape)


def flipped(name, input, dim):
    if input.dim() <= dim:
        raise RuntimeError(f"{name}(): Input must be >= {dim + 1}-d.")
    return torch.flip(input, [dim])


@op("torch.flipud Tensor.flipud")
def flipud(input: Tensor):
    return flipped("flipud", input, 0)


@op("torch.fliplr Tensor.fliplr")
def fliplr(input: Tensor):
    return flipped("fliplr", input, 1)


@op("torch.rot90 Tensor.rot90")
def rot90(input: Tensor, k: int = 1, dims=None):
    refusal = "expected total rotation dims == 2, and both to be different"
    if input.dim() < 2:
        raise RuntimeError(refusal)
    dims = [library.wrap_dim(input, dim) for dim in ((0, 1) if dims is None else dims)]
    if len(dims) != 2 or dims[0] == dims[1]:
        raise RuntimeError(refusal)
    turns = library.concrete(k) % 4
    if turns % 2 == 0:
        return torch.flip(input, dims) if turns == 2 else input
    return torch.flip(input, [dims[1] if turns == 1 else dims[0]]).transpose(dims[0], dims[1])


@op("torch.diagflat Tensor.diagflat")
def diagflat(input: Tensor, offset: int = 0):
    return torch.diag(input.reshape(-1), offset)
