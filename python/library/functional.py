"""Functions of torch.nn.functional that are made of others: evaluated like a reference, by the same rules; never run."""
import torch
import torch.nn.functional as F
from kernelwright import names


@names("F.affine_grid")
def affine_grid(theta, size, align_corners=None):
    extents = size[2:]
    rows, columns = len(extents), len(extents) + 1
    if theta.dim() != 3 or theta.shape[1] != rows or theta.shape[2] != columns:
        raise ValueError(f"affine_grid to size {list(size)} takes theta of shape Nx{rows}x{columns}, not {list(theta.shape)}")
    axes = []
    for i, extent in enumerate(extents):
        line = 2 * torch.arange(extent, dtype=theta.dtype)
        if extent <= 1:
            line = line * 0
        elif align_corners:
            line = line / (extent - 1) - 1
        else:
            line = (line + 1) / extent - 1
        axes.append(line.reshape([extent if i == j else 1 for j in range(rows)]).expand(extents))
    places = torch.stack([*reversed(axes), torch.ones_like(axes[0])], -1).reshape(1, -1, columns)
    places = places.expand(theta.shape[0], -1, -1)
    return (places @ theta.transpose(1, 2)).reshape(theta.shape[0], *extents, rows)


def reflected(x, low, high):
    """Reflects a coordinate between low / 2 and high / 2."""
    if low == high:
        return torch.zeros_like(x)
    span = (high - low) / 2
    away = torch.abs(x - low / 2)
    turns = torch.floor(away / span)
    rest = away - turns * span
    # Counted in integers: no rounding can make an even number odd.
    return torch.where(turns.long() % 2 == 0, rest + low / 2, span - rest + low / 2)


def inside(x, extent, padding_mode, corners):
    """The coordinate to read for a place outside of the input; for zeros, far outside is the same as near."""
    if padding_mode == "zeros":
        return x.clamp(-2, extent + 1)
    if padding_mode == "reflection":
        x = reflected(x, 0, 2 * (extent - 1)) if corners else reflected(x, -1, 2 * extent - 1)
    return x.clamp(0, extent - 1)


def whole_inside(i, extent, padding_mode, corners):
    """The same for integers."""
    if padding_mode == "zeros":
        return i
    if padding_mode == "reflection":
        period = 2 * (extent - 1) if corners else 2 * extent
        if period == 0:
            return torch.zeros_like(i)
        i = i % period
        i = torch.minimum(i, period - i if corners else period - 1 - i)
    return i.clamp(0, extent - 1)


def picked(values, places, extents):
    """values[n, c] at integer coordinates, one tensor per dim; zeros outside."""
    index, within = None, None
    for place, extent in zip(places, extents):
        ok = (place >= 0) & (place < extent)
        at = place.clamp(0, extent - 1)
        index = at if index is None else index * extent + at
        within = ok if within is None else within & ok
    n, c = values.shape[0], values.shape[1]
    found = torch.gather(values.reshape(n, c, -1), 2, index.reshape(n, 1, -1).expand(n, c, -1))
    found = torch.where(within.reshape(n, 1, -1), found, 0.0)
    return found.reshape(n, c, *places[0].shape[1:])


def cubic_weights(t):
    a = -0.75
    far, near, after, beyond = t + 1, t, 1 - t, 2 - t
    return (((a * far - 5 * a) * far + 8 * a) * far - 4 * a, ((a + 2) * near - (a + 3)) * near * near + 1,
            ((a + 2) * after - (a + 3)) * after * after + 1, ((a * beyond - 5 * a) * beyond + 8 * a) * beyond - 4 * a)


@names("F.grid_sample")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"grid_sample has the modes 'bilinear', 'nearest' and 'bicubic', not '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"grid_sample pads by 'zeros', 'border' or 'reflection', not by '{padding_mode}'")
    rank = input.dim() - 2
    if rank not in (2, 3) or grid.dim() != input.dim() or grid.shape[-1] != rank:
        raise RuntimeError(f"grid_sample takes an input of 4 or 5 dims and a grid of as many whose last dim says where; not {list(input.shape)} and {list(grid.shape)}")
    if mode == "bicubic" and rank != 2:
        raise RuntimeError("grid_sample is bicubic on images only, which have 4 dims")
    corners = True if align_corners else False
    extents = input.shape[2:]
    values = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    places = []
    for i, extent in enumerate(extents):
        x = grid[..., rank - 1 - i].to(values.dtype)
        x = (x + 1) / 2 * (extent - 1) if corners else ((x + 1) * extent - 1) / 2
        if mode != "bicubic":
            x = inside(x, extent, padding_mode, corners)
        elif padding_mode != "reflection":
            x = x.clamp(-3, extent + 2)
        places.append(x)
    if mode == "nearest":
        return picked(values, [torch.round(x).long() for x in places], extents).to(input.dtype)
    low = [torch.floor(x) for x in places]
    shares = []
    for x, before in zip(places, low):
        shares.append(cubic_weights(x - before) if mode == "bicubic" else (before + 1 - x, x - before))
    first = -1 if mode == "bicubic" else 0
    taps = [[]]
    for one in shares:
        taps = [[*tap, i] for tap in taps for i in range(len(one))]
    total = None
    for tap in taps:
        at, share = [], None
        for i, step in enumerate(tap):
            place = low[i].long() + (step + first)
            at.append(whole_inside(place, extents[i], padding_mode, corners) if mode == "bicubic" else place)
            share = shares[i][step] if share is None else share * shares[i][step]
        part = picked(values, at, extents) * share.unsqueeze(1)
        total = part if total is None else total + part
    return total.to(input.dtype)


def unpooled(input, indices, kernel_size, stride, padding, output_size, rank):
    def each(value):
        return tuple(value) if isinstance(value, (list, tuple)) else (value,) * rank

    kernel = each(kernel_size)
    steps = kernel if stride is None or stride == [] else each(stride)
    around = each(padding)
    lead, extents = input.shape[:-rank], input.shape[-rank:]
    if output_size is None:
        output_size = [(extents[i] - 1) * steps[i] - 2 * around[i] + kernel[i] for i in range(rank)]
    output_size = list(output_size)[-rank:]
    count = 1
    for extent in output_size:
        count = count * extent
    flat = torch.zeros((*lead, count), dtype=input.dtype)
    return flat.scatter(-1, indices.reshape(*lead, -1), input.reshape(*lead, -1)).reshape(*lead, *output_size)


@names("F.max_unpool1d")
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return unpooled(input, indices, kernel_size, stride, padding, output_size, 1)


@names("F.max_unpool2d")
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return unpooled(input, indices, kernel_size, stride, padding, output_size, 2)


@names("F.max_unpool3d")
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return unpooled(input, indices, kernel_size, stride, padding, output_size, 3)


@names("F.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"there is no reduction '{reduction}': 'none', 'mean' or 'sum'")
    if anchor.dim() != positive.dim() or anchor.dim() != negative.dim():
        raise RuntimeError(f"anchor, positive and negative have {anchor.dim()}, {positive.dim()} and {negative.dim()} dims, not equally many")
    distance = F.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()
