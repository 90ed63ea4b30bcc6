# options: --dims batch=4 --dims dim=6
import torch
from jaxtyping import Float, Float16
from torch import Tensor


def reference(x: Float16[Tensor, "batch dim"], w: Float[Tensor, "dim"]):
    return x * w
