import torch


def group_router(x: "bf16[T, H]", w: "bf16[64, H]", bias: "fp32[64]"):
    logits = x.float() @ w.float().t()
    scores = logits.sigmoid()
    choice = scores + bias
    t = scores.shape[0]
    group_scores = choice.view(t, 8, 8).topk(2, dim=-1)[0].sum(dim=-1)
    group_idx = torch.topk(group_scores, k=4, dim=-1, sorted=False)[1]
    group_mask = torch.zeros_like(group_scores)
    group_mask.scatter_(1, group_idx, 1)
    score_mask = group_mask.unsqueeze(-1).expand(t, 8, 8).reshape(t, -1)
    tmp = choice.masked_fill(~score_mask.bool(), 0.0)
    topk_idx = torch.topk(tmp, k=8, dim=-1, sorted=False)[1]
    weight = scores.gather(1, topk_idx)
    weight = weight / (weight.sum(dim=-1, keepdim=True) + 1e-20)
    return topk_idx, weight * 2.5
