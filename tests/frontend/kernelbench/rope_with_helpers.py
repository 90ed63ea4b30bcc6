import torch


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def norm(x, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def get_inputs():
    return [torch.randn(4, 8, 128, 64), torch.randn(128, 64), torch.randn(128, 64)]


def apply_rope(q, cos, sin):
    q = norm(q)
    return q * cos + rotate_half(q) * sin


def main():
    print(apply_rope(*get_inputs()))
