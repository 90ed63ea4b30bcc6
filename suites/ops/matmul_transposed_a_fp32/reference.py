def reference(a, b):
    c = a.T @ b
    return c
