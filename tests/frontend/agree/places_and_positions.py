# options: --dims N=2 --dims C=3 --dims H=5 --dims W=24
import torch


def places_and_positions(x: "fp32[N, C, H, W]"):
    """Positions along a dim of the rows are added to what a search along another one found."""
    value, place = x.max(dim=-1)
    position = torch.arange(x.shape[2], device=x.device)
    return value, place + 100 * position
