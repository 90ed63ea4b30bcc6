def reference(a, b):
    c = a @ b
    return c
