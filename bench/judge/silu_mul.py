import torch.nn.functional as F


def silu_mul(gate: "bf16[N]", up: "bf16[N]"):
    return F.silu(gate) * up
