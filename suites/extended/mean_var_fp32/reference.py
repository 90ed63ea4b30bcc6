import torch


def reference(x):
    var, mean = torch.var_mean(x, dim=-1, correction=0)
    return mean, var
