"""An honest ModelNew whose block size is tuned; two kernels and scratch between them."""
import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)], key=["d"])
@triton.jit
def statistics(x, most, total, d, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row.to(tl.int64) * d + at, mask=at < d, other=-float("inf"))
    high = tl.max(value, axis=0)
    tl.store(most + row, high)
    tl.store(total + row, tl.sum(tl.exp(value - high), axis=0))


@triton.jit
def divide(x, most, total, y, d, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row.to(tl.int64) * d + at, mask=at < d)
    tl.store(y + row.to(tl.int64) * d + at, tl.exp(value - tl.load(most + row)) / tl.load(total + row), mask=at < d)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, d = x.shape
        y = torch.empty_like(x)
        most = torch.empty(rows, device=x.device, dtype=torch.float32)
        total = torch.empty_like(most)
        block = triton.next_power_of_2(d)
        statistics[(rows,)](x, most, total, d, BLOCK=block)
        divide[(rows,)](x, most, total, y, d, BLOCK=block)
        return y
