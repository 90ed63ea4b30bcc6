def row_sum(x: "fp32[B, D]"):
    return x.sum(dim=-1)
