# options: --input x:fp32
def reference(x):
    return x
