def reference(x: "fp32[B, D]"):
    match x.sum():
        case 0:
            return x
        case _:
            return x + 1
