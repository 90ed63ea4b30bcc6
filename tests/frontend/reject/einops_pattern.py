# options: --dims B=2 --dims D=6
from einops import rearrange


def reference(x: "fp32[B, D]"):
    return rearrange(x, "b (p q) -> b p q")
