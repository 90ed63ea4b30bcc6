def reference(x: "fp32[B, D]"):
    match {"rank": x.dim()}:
        case {"rank": 2}:
            return x
        case _:
            return x + 1
