"""An honest function that launches one Triton kernel."""
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    value = tl.minimum(tl.maximum(value * 3.0, -100.0), 100.0) + 1.0
    tl.store(y + at, value, mask=at < n)


def forward(x):
    y = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        scale[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
    return y
