# options: --dims E=4
def reference(x: "fp16[B, D]"):
    return x
