import torch
import torch.nn.functional as F


def top_p_filter(logits: "fp32[B, V]", top_p: float = 0.9):
    logits = logits.round()
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = F.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
    remove = cumulative > top_p
    remove = torch.cat([torch.zeros_like(remove[..., :1]), remove[..., :-1]], dim=-1)
    mask = torch.zeros_like(remove).scatter(1, sorted_indices, remove)
    return logits.masked_fill(mask, float("-inf"))
