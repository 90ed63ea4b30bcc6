# options: --dims B=6 --dims D=8
# b is a view of a where B or D is 1, and a copy elsewhere: the write shows which. The write into e comes before the copy.
def reference(x: "fp32[B, D]", y: "fp32[S, V]"):
    a = x.clone()
    b = a.t().contiguous()
    b.zero_()
    e = y.clone()
    e.add_(1)
    return a, e.t().contiguous()
