def axpb(x: "fp32[N]"):
    return x * 3.0 + 1.0
