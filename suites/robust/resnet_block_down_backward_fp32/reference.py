import torch.nn.functional as F


def normalised(x, mean, var, weight, bias):
    return F.batch_norm(x, mean, var, weight, bias, False, 0.1, 1e-5)


def reference(
    x, conv1, bn1_weight, bn1_bias, bn1_running_mean, bn1_running_var, conv2, bn2_weight,
    bn2_bias, bn2_running_mean, bn2_running_var, side, bn3_weight, bn3_bias, bn3_running_mean,
    bn3_running_var,
):
    out = F.conv2d(x, conv1, stride=2, padding=1)
    out = normalised(out, bn1_running_mean, bn1_running_var, bn1_weight, bn1_bias)
    out = F.conv2d(F.relu(out), conv2, padding=1)
    out = normalised(out, bn2_running_mean, bn2_running_var, bn2_weight, bn2_bias)
    skip = F.conv2d(x, side, stride=2)
    skip = normalised(skip, bn3_running_mean, bn3_running_var, bn3_weight, bn3_bias)
    y = F.relu(out + skip)
    return y
