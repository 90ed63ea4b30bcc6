def masked_fill(x: "fp32[B, D]", mask: "bool[B, D]"):
    return x.masked_fill(mask, float("-inf"))
