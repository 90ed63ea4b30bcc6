def reference(x: "fp17[B, D]"):
    return x
