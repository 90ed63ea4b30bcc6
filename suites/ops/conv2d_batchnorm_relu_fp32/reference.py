import torch.nn.functional as F


def reference(x, weight, gamma, beta, running_mean, running_var):
    z = F.conv2d(x, weight, padding=1)
    z = F.batch_norm(z, running_mean, running_var, gamma, beta, False, 0.1, 1e-5)
    y = F.relu(z)
    return y
