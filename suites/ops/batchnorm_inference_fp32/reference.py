import torch.nn.functional as F


def reference(x, weight, bias, running_mean, running_var):
    y = F.batch_norm(x, running_mean, running_var, weight, bias, False, 0.1, 1e-5)
    return y
