def reference(x, w, eps: float):
    return x * w
