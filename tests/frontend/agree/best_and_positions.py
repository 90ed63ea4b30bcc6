# options: --dims N=2 --dims C=3 --dims H=5 --dims W=24
import torch


def best_and_positions(x: "fp32[N, C, H, W]"):
    """Positions along a dim of the rows are added to what a selection along another one found."""
    values, places = x.topk(4, dim=-1)
    position = torch.arange(x.shape[2], device=x.device)
    return values, places + 100 * position[:, None]
