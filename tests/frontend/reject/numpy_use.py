import numpy as np


def reference(x: "fp32[B, D]"):
    return np.linalg.norm(x)
