def reference(a, x):
    y = a @ x
    return y
