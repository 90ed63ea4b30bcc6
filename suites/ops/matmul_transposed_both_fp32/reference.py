def reference(a, b):
    c = a.T @ b.T
    return c
