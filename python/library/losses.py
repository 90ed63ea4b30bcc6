"""Losses. Evaluated like a reference, by the same rules; never run.

If PyTorch has a kernel for the loss, it computes wide and rounds once per element. If PyTorch composes operators, every step rounds. Half
types show the difference, so each loss follows its original. library.* are rows of our own (src/read/frontend/ops_library.cpp).
"""
import math

import torch
import torch.nn.functional as F
from aten import library
from kernelwright import op


def reduction_word(reduction, size_average=None, reduce=None):
    """size_average and reduce are the older arguments; numbers are ATen's."""
    if size_average is not None or reduce is not None:
        return "none" if reduce == False else "sum" if size_average == False else "mean"
    for word, also in (("none", 0), ("mean", 1), ("mean", "elementwise_mean"), ("sum", 2)):
        if reduction in (word, also):
            return word
    raise ValueError(f"{reduction} is not a valid value for reduction")


def reduced(loss, reduction, size_average=None, reduce=None):
    """The losses of the elements, reduced as the call says."""
    word = reduction_word(reduction, size_average, reduce)
    return loss if word == "none" else loss.mean() if word == "mean" else loss.sum()


def same_sizes(a, b, otherwise):
    if not library.same_sizes(a.shape, b.shape):
        raise ValueError(f"{otherwise}: {list(a.shape)} and {list(b.shape)}")


def elementwise(name, input, target, weight, each):
    """A loss with one kernel: each() computes wide, and its result is rounded to the dtype that both promote to."""
    dtype = library.result_type(input, target)
    if not dtype.is_floating_point:
        raise RuntimeError(f"\"{name}\" not implemented for '{library.type_word(input)}'")
    if weight is not None:
        raise ValueError(f"{name}(): weight is not supported; multiply the losses of reduction='none' with it")
    work = torch.float64 if dtype == torch.float64 else torch.float32
    y = target.to(work)
    return each(input.to(work), y).to(dtype)


@op("F.mse_loss")
def mse_loss(input: Tensor, target: Tensor, size_average: bool = None, reduce: bool = None, reduction="mean", weight: Tensor = None):
    def each(x, y):
        gap = x - y
        return gap * gap

    return reduced(elementwise("mse_loss", input, target, weight, each), reduction, size_average, reduce)


@op("F.l1_loss")
def l1_loss(input: Tensor, target: Tensor, size_average: bool = None, reduce: bool = None, reduction="mean", weight: Tensor = None):
    return reduced(elementwise("l1_loss", input, target, weight, lambda x, y: torch.abs(x - y)), reduction, size_average, reduce)


@op("F.smooth_l1_loss")
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool = None, reduce: bool = None, reduction="mean", beta: float = 1.0):
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")

    def each(x, y):
        gap = torch.abs(x - y)
        if beta == 0:
            return gap
        far = gap - 0.5 * beta
        near = gap * gap * 0.5 / beta
        return torch.where(gap < beta, near, far)

    return reduced(elementwise("smooth_l1_loss", input, target, None, each), reduction, size_average, reduce)


@op("F.huber_loss")
def huber_loss(input: Tensor, target: Tensor, reduction="mean", delta: float = 1.0, weight: Tensor = None):
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")

    def each(x, y):
        gap = torch.abs(x - y)
        far = (gap - 0.5 * delta) * delta
        near = gap * gap * 0.5
        return torch.where(gap < delta, near, far)

    return reduced(elementwise("huber_loss", input, target, weight, each), reduction)


@op("F.kl_div")
def kl_div(input: FloatTensor, target: FloatTensor, size_average: bool = None, reduce: bool = None, reduction="mean", log_target: bool = False):
    if log_target:
        gap = target - input
        loss = torch.exp(target) * gap
    else:
        crossed = target * input
        w = library.wide(target)
        own = w * torch.log(w)
        loss = torch.where(w == 0, 0.0, own).to(target.dtype) - crossed
    if reduction == "batchmean" and size_average is None and reduce is None:
        return loss.sum() if loss.dim() == 0 else loss.sum() / loss.shape[0]
    return reduced(loss, reduction, size_average, reduce)


@op("F.binary_cross_entropy")
def binary_cross_entropy(input: FloatTensor, target: FloatTensor, weight: Tensor = None, size_average: bool = None, reduce: bool = None, reduction="mean"):
    same_sizes(target, input, "Using a target size that is different to the input size is deprecated. Please ensure they have the same size")
    p, t = library.wide(input), library.wide(target)
    # Logarithms are at least -100, so that a certain error has a finite loss.
    likely = t * torch.log(p).clamp(min=-100.0)
    unlikely = torch.log1p(-p).clamp(min=-100.0)
    loss = ((t - 1) * unlikely - likely).to(input.dtype)
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce)


@op("F.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(input: FloatTensor, target: FloatTensor, weight: Tensor = None, size_average: bool = None, reduce: bool = None,
                                     reduction="mean", pos_weight: Tensor = None):
    same_sizes(target, input, "Target size must be the same as input size")
    likely = F.logsigmoid(input)
    if pos_weight is not None:
        likely = likely * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * input - likely
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce)


@op("F.poisson_nll_loss")
def poisson_nll_loss(input: FloatTensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool = None, eps: float = 1e-08,
                     reduce: bool = None, reduction="mean"):
    if log_input:
        expected = target * input
        loss = torch.exp(input) - expected
    else:
        loss = input - target * torch.log(input + eps)
    if full:
        half = 0.5 * torch.log(2 * math.pi * target)
        stirling = target * torch.log(target) - target + half
        loss = loss + torch.where(target <= 1, 0.0, stirling)
    return reduced(loss, reduction, size_average, reduce)


@op("F.gaussian_nll_loss")
def gaussian_nll_loss(input: FloatTensor, target: Tensor, var, full: bool = False, eps: float = 1e-06, reduction="mean"):
    if not torch.is_tensor(var):
        var = torch.full(input.shape, var, dtype=input.dtype)
    elif var.dim() == input.dim() - 1:
        var = var.unsqueeze(-1)
    bounded = torch.maximum(var, eps)
    gap = input - target
    ratio = gap * gap / bounded
    loss = 0.5 * (torch.log(bounded) + ratio)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@op("F.hinge_embedding_loss")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool = None, reduce: bool = None, reduction="mean"):
    apart = torch.maximum(margin - input, 0.0)
    near = torch.where(target != -1, input, 0.0)
    return reduced(torch.where(target != 1, apart, 0.0) + near, reduction, size_average, reduce)


@op("F.margin_ranking_loss")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool = None, reduce: bool = None,
                        reduction="mean"):
    gap = input1 - input2
    return reduced(torch.maximum(-target * gap + margin, 0.0), reduction, size_average, reduce)


@op("F.soft_margin_loss")
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool = None, reduce: bool = None, reduction="mean"):
    return reduced(torch.log1p(torch.exp(-input * target)), reduction, size_average, reduce)


@op("F.cosine_embedding_loss")
def cosine_embedding_loss(input1: FloatTensor, input2: FloatTensor, target: Tensor, margin: float = 0, size_average: bool = None, reduce: bool = None,
                          reduction="mean"):
    dim = target.dim()
    if dim > 1 or input1.dim() != dim + 1 or input2.dim() != dim + 1:
        raise RuntimeError("cosine_embedding_loss: 0D or 1D target tensor expected, with 1D or 2D input tensors")
    second = (input2 * input2).sum(dim) + 1e-12
    size = torch.sqrt(((input1 * input1).sum(dim) + 1e-12) * second)
    cosine = (input1 * input2).sum(dim) / size
    apart = torch.maximum(cosine - margin, 0.0)
    different = torch.where(target == -1, apart, 0.0)
    near = 1 - cosine
    return reduced(torch.where(target == 1, near, 0.0) + different, reduction, size_average, reduce)


@op("F.triplet_margin_loss")
def triplet_margin_loss(anchor: FloatTensor, positive: FloatTensor, negative: FloatTensor, margin: float = 1.0, p: float = 2, eps: float = 1e-06,
                        swap: bool = False, size_average: bool = None, reduce: bool = None, reduction="mean"):
    if anchor.dim() != positive.dim() or anchor.dim() != negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
                           f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    near = F.pairwise_distance(anchor, positive, p, eps)
    far = F.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, F.pairwise_distance(positive, negative, p, eps))
    return reduced(torch.maximum(margin + near - far, 0.0), reduction, size_average, reduce)


# Scores against classes. The target holds class indices, so each loss selects a score per sample. Samples with ignore_index count neither in
# the sum nor in the divisor of the mean: class 0 is selected for them, and the result is masked. One-hot products would give NaN for infinite
# scores of other classes. Half types are summed and divided in the wide type, as in PyTorch.


def dim_of_classes(scores, weight):
    if scores.dim() < 1:
        raise RuntimeError("input tensor should be 1D or more")
    dim = 0 if scores.dim() == 1 else 1
    if weight is not None and (weight.dim() != 1 or not library.same_sizes(weight.shape[0], scores.shape[dim])):
        raise RuntimeError(f"weight tensor should be defined either for all {scores.shape[dim]} classes or no classes but got weight tensor of shape: "
                           f"{list(weight.shape)}")
    return dim


def check_target(scores, target, dim):
    if target.dtype != torch.int64:
        raise RuntimeError(f"expected scalar type Long but found {library.type_word(target)}")
    wanted = [*scores.shape[:dim], *scores.shape[dim + 1:]]
    have = list(target.shape)
    if not library.same_sizes(have, wanted):
        if have and wanted and have[0] != wanted[0]:
            raise ValueError(f"Expected input batch_size ({wanted[0]}) to match target batch_size ({have[0]}).")
        raise RuntimeError(f"Expected target size {wanted}, got {have}")


def picked(scores, target, weight, ignored, dim):
    """The losses of the samples, and the weights that their mean divides by. Both are wide, and 0 for an ignored sample."""
    check_target(scores, target, dim)
    kept = target != ignored
    place = torch.where(kept, target, 0)
    loss = -library.wide(torch.gather(scores, dim, place.unsqueeze(dim)).squeeze(dim))
    share = kept.to(loss.dtype)
    if weight is not None:
        each = library.wide(torch.index_select(weight, 0, place.reshape(place.numel())).reshape(place.shape))
        loss = loss * each
        share = torch.where(kept, each, 0.0)
    return torch.where(kept, loss, 0.0), share


def reduce_picked(loss, share, reduction, dtype):
    """One number; half types are summed and divided in the wide type."""
    if reduction == "none":
        return loss.to(dtype)
    if reduction == "sum":
        return loss.sum().to(dtype)
    total = loss.sum()
    return (total / share.sum()).to(dtype)


@op("F.nll_loss F.nll_loss2d")
def nll_loss(input: FloatTensor, target: Tensor, weight: Tensor = None, size_average: bool = None, ignore_index: int = -100, reduce: bool = None,
             reduction="mean"):
    dim = dim_of_classes(input, weight)
    reduction = reduction_word(reduction, size_average, reduce)
    return reduce_picked(*picked(input, target, weight, ignore_index, dim), reduction, input.dtype)


@op("aten.nll_loss_pair")
def nll_loss_pair(input: FloatTensor, target: Tensor, weight: Tensor = None, reduction=1, ignore_index: int = -100):
    """ATen's form: the divisor of the mean is the second result."""
    dim = dim_of_classes(input, weight)
    loss, share = picked(input, target, weight, ignore_index, dim)
    return reduce_picked(loss, share, reduction_word(reduction), input.dtype), share.sum().to(input.dtype)


def weight_column(weight, scores, dim):
    """The weight of every class as [C, 1, …], which broadcasts to [N, C, …]."""
    return weight.reshape([scores.shape[dim]] + [1] * (scores.dim() - dim - 1))


@op("F.cross_entropy")
def cross_entropy(input: FloatTensor, target: Tensor, weight: Tensor = None, size_average: bool = None, ignore_index: int = -100, reduce: bool = None,
                  reduction="mean", label_smoothing: float = 0.0):
    dim = dim_of_classes(input, weight)
    reduction = reduction_word(reduction, size_average, reduce)
    smoothing = label_smoothing
    if not 0 <= smoothing <= 1:
        raise ValueError(f"label_smoothing must be between 0.0 and 1.0. Got: {smoothing}")
    soft = target.dim() == input.dim() and target.shape == input.shape
    if soft and not target.dtype.is_floating_point:
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {library.type_word(target)}")
    scores = F.log_softmax(input, dim)
    if soft:
        return soft_cross_entropy(scores, target, weight, smoothing, reduction, dim)
    loss, share = picked(scores, target, weight, ignore_index, dim)
    sharp = reduce_picked(loss, share, reduction, scores.dtype)
    if smoothing == 0:
        return sharp
    # (1 - s) of the class's own loss, and s spread evenly over all classes.
    spread = -(scores if weight is None else scores * weight_column(weight, scores, dim)).sum(dim)
    even = torch.where(target != ignore_index, spread, 0.0)
    blurred = reduce_picked(even, share, reduction, scores.dtype) * (smoothing / scores.shape[dim])
    return sharp * (1 - smoothing) + blurred


def soft_cross_entropy(scores, target, weight, smoothing, reduction, dim):
    """For targets that are probabilities of every class."""
    classes = scores.shape[dim]
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    products = scores * target
    if weight is not None:
        products = products * weight_column(weight, scores, dim)
    if reduction == "none":
        return -products.sum(dim)
    total = -products.sum()
    return total if reduction == "sum" or scores.dim() == 1 else total / (products.numel() // classes)


@op("F.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(input: FloatTensor, target: Tensor, weight: Tensor = None, size_average: bool = None, reduce: bool = None,
                                reduction="mean"):
    same_sizes(target, input, "Target size must be the same as input size")
    if input.dim() == 0:
        return input
    off = F.logsigmoid(-input)
    off = (1 - target) * off
    on = target * F.logsigmoid(input)
    loss = -(on + off)
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / loss.shape[-1], reduction, size_average, reduce)


def rows_of(name, scores, target, target_rank):
    """Scores as [N, C], targets as [N] or [N, C], and whether the input had a batch dim."""
    batched = scores.dim() == 2
    if target.dtype != torch.int64:
        raise RuntimeError(f"expected scalar type Long but found {library.type_word(target)}")
    if scores.dim() not in (1, 2) or target.dim() != (target_rank if batched else target_rank - 1):
        raise RuntimeError(f"{name}: Expected non-empty vector or matrix, and inconsistent target size: {list(target.shape)} for input of size "
                           f"{list(scores.shape)}")
    if not batched:
        scores, target = scores.unsqueeze(0), target.unsqueeze(0)
    if not library.same_sizes(scores.shape[0], target.shape[0]):
        raise RuntimeError(f"{name}: inconsistent target size, expected {scores.shape[0]} but got {target.shape[0]}")
    return scores, target, batched


def reduce_rows(loss, scores, batched, reduction):
    each = loss.to(scores.dtype)
    return reduced(each if batched else each.reshape([]), reduction)


@op("F.multi_margin_loss")
def multi_margin_loss(input: FloatTensor, target: Tensor, p: float = 1, margin: float = 1.0, weight: Tensor = None, size_average: bool = None,
                      reduce: bool = None, reduction="mean"):
    """The sum over i != y of max(0, margin - x[y] + x[i]) ** p * weight[y] / C."""
    scores, target, batched = rows_of("multi_margin_loss", input, target, 1)
    reduction = reduction_word(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("multi_margin_loss: only p == 1 and p == 2 supported")
    classes = scores.shape[1]
    column = target.unsqueeze(1)
    own = library.wide(torch.gather(scores, 1, column))
    all = library.wide(scores)
    gap = torch.maximum(margin - own + all, 0.0)
    if p == 2:
        gap = gap * gap
    if weight is not None:
        gap = gap * library.wide(torch.index_select(weight, 0, target).unsqueeze(1))
    others = column != library.positions((1, classes), 1)
    return reduce_rows(torch.where(others, gap, 0.0).sum(1) / classes, scores, batched, reduction)


@op("F.multilabel_margin_loss")
def multilabel_margin_loss(input: FloatTensor, target: Tensor, size_average: bool = None, reduce: bool = None, reduction="mean"):
    """The targets are the classes before the first -1. Each is compared with every class that is not a target."""
    scores, target, batched = rows_of("multilabel_margin_loss", input, target, 2)
    reduction = reduction_word(reduction, size_average, reduce)
    count, classes = scores.shape
    if float(target.shape[1]) != float(classes):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(scores.shape)}")
    listed = torch.cumprod((target >= 0).to(torch.int64), 1) != 0
    place = torch.where(listed, target, 0)
    own = torch.gather(scores, 1, place)

    def across(x):
        return x.reshape(count, classes, 1)

    # [N, target, class]
    indices = library.positions((1, 1, classes), 2)
    same = across(place) == indices
    hit = across(listed) & same
    is_target = torch.any(hit, 1, keepdim=True)
    every = library.wide(scores.reshape(count, 1, classes))
    gap = torch.maximum(1.0 - library.wide(across(own)) + every, 0.0)
    other = ~is_target
    counts = across(listed) & other
    return reduce_rows(torch.where(counts, gap, 0.0).sum((1, 2)) / classes, scores, batched, reduction)
