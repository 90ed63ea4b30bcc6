# options: --input x:fp32[B,D] --input v:fp32[D]
def reference(x, w):
    return x * w
