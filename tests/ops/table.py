"""Reads the op table (tables/*.txt) and makes its inputs: the same numbers, bit for bit, as table.cpp makes.

A line is   name | dtypes | inputs | expression
  dtypes      blank-separated; the case is repeated for each, with T standing for it; "-": once
  inputs      "x: T[4,33] normal; i: int64[5] range(0,3)": name, dtype, shape, family ("normal" when left out)
  expression  Python, with torch as torch and torch.nn.functional as F
A line whose expression begins with "raises TEXT ::" must be refused by PyTorch, and by us with TEXT in the message.
"""
import ast
import math
import re
import struct

MASK = (1 << 64) - 1
FLOATS = {"fp64": 53, "fp32": 24, "fp16": 11, "bf16": 8}
SIGNED = {"int64": 64, "int32": 32, "int16": 16, "int8": 8}


def mix(x):
    """splitmix64's finaliser."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def seed_of(text):
    """FNV-1a."""
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def bell(h):
    """A whole number of about normal distribution in (-2^17, 2^17)."""
    return (h & 0xFFFF) + (h >> 16 & 0xFFFF) + (h >> 32 & 0xFFFF) + (h >> 48) - 131070


# How many low bits a draw of 18 (bell), 24 (uniform) bits must lose so that the value is exact in the dtype.
BELL_LOSS = {"fp64": 0, "fp32": 0, "fp16": 8, "bf16": 10}
EVEN_LOSS = {"fp64": 0, "fp32": 0, "fp16": 14, "bf16": 17}
TINY = {"fp64": -1074, "fp32": -149, "fp16": -24, "bf16": -133}
MAX = {"fp64": struct.unpack(">d", b"\x7f\xef" + b"\xff" * 6)[0], "fp32": (2 - 2.0**-23) * 2.0**127, "fp16": 65504.0,
       "bf16": (2 - 2.0**-7) * 2.0**127}
LOWEST_NORMAL = {"fp64": 2.0**-1022, "fp32": 2.0**-126, "fp16": 2.0**-14, "bf16": 2.0**-126}


def trim(value, bits):
    """value without its low bits, rounded toward zero."""
    return -((-value) >> bits) if value < 0 else value >> bits


def edges(dtype):
    if dtype == "bool":
        return [0, 1]
    if dtype in FLOATS:
        top, low, tiny = MAX[dtype], LOWEST_NORMAL[dtype], math.ldexp(1, TINY[dtype])
        finite = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 6.0, -6.0, 20.0, -20.0, 0.25, -0.25,
                  88.0, -88.0, 100.0, -100.0, top, -top, low, -low, tiny, -tiny]
        return finite
    if dtype not in SIGNED:
        return [0, 1, 2, 3, 7, 8, 100, 255]
    top = (1 << SIGNED[dtype] - 1) - 1
    return [0, 1, 2, 3, 7, 8, 100, top, -1, -2, -3, -7, -8, -100, -top - 1]


def permutation(n, seed):
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = mix(seed + i & MASK) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def float_value(family, dtype, h, i):
    loss, even = BELL_LOSS[dtype], EVEN_LOSS[dtype]
    b, u = trim(bell(h), loss), (h >> 40) >> even
    if family == "normal":
        return math.ldexp(b, loss - 15)
    if family == "positive":
        return math.ldexp((abs(bell(h)) + 2048) >> loss, loss - 15)
    if family == "unit":
        return math.ldexp(u - (1 << 23 - even), even - 23)
    if family == "prob":
        return math.ldexp(2 * (u >> 1) + 1, even - 24)
    if family == "heavy":
        return math.ldexp(b, loss - 15 + mix(h) % 17 - 8)
    if family == "big":
        return math.ldexp(b, loss - 15 + (10 if dtype == "fp16" else 60))
    if family == "denormal":
        return math.ldexp(trim(bell(h), max(loss, 11 if dtype == "bf16" else 0)), TINY[dtype])
    if family == "offset":
        where, bits, step = {"fp16": (1024, 10, 0), "bf16": (128, 13, 0)}.get(dtype, (4096, 0, -11))
        return where + math.ldexp(trim(bell(h), bits), step)
    if family == "zeros":
        return -0.0 if i % 2 else 0.0
    if family == "equal":
        return 0.75
    if family == "ties":
        return float(h % 4) - 1
    if family == "whole":
        return float(h % 19) - 9
    if family == "halves":
        return (float(h % 37) - 18) / 4
    raise ValueError(f"no family '{family}' for {dtype}")


def range_of(family, dtype):
    match = re.fullmatch(r"range\((-?\d+),(-?\d+)\)", family)
    if match:
        return int(match[1]), int(match[2])
    if family in ("normal", "whole", "halves", "unit"):
        return (-9, 9) if dtype in SIGNED else (0, 9)
    if family == "ties":
        return 0, 2
    raise ValueError(f"no family '{family}' for {dtype}")


def values(spec, seed):
    """The flat list of numbers of an input."""
    family, dtype, count = spec["family"], spec["dtype"], math.prod(spec["shape"])
    if family.startswith("{"):
        listed = [float(v) if dtype in FLOATS else int(v) for v in family[1:-1].split(",")]
        return [listed[i % len(listed)] for i in range(count)]
    if family in ("edge", "special", "special2"):
        listed = edges(dtype)
        if family != "edge" and dtype in FLOATS:
            listed = listed + [math.inf, -math.inf, math.nan]
        return [listed[(i * 7 // 3 if family == "special2" else i) % len(listed)] for i in range(count)]
    if family == "distinct":
        return [(v - count // 2) / 8 if dtype in FLOATS else v - (count // 2 if dtype in SIGNED else 0)
                for v in permutation(count, seed)]
    if family == "permutation":
        return permutation(count, seed)
    if dtype in FLOATS:
        return [float_value(family, dtype, mix(seed + i & MASK), i) for i in range(count)]
    if dtype == "bool":
        return [mix(seed + i & MASK) >> 11 & 1 for i in range(count)]
    low, high = range_of(family, dtype)
    return [low + mix(seed + i & MASK) % (high - low + 1) for i in range(count)]


def parse_inputs(text, dtype):
    specs = []
    for piece in filter(None, (p.strip() for p in text.split(";"))):
        match = re.fullmatch(r"(\w+)\s*:\s*(\w+)\[([\d,\s]*)\]\s*(.*)", piece)
        if not match:
            raise ValueError(f"input '{piece}' is not like 'x: fp32[4,33] normal'")
        specs.append({"name": match[1], "dtype": dtype if match[2] == "T" else match[2],
                      "shape": [int(v) for v in match[3].split(",") if v.strip()], "family": match[4] or "normal"})
    return specs


def cases(text):
    """Every case of a table file."""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, dtypes, inputs, expression = (p.strip() for p in line.split("|", 3))
        raises = None
        if expression.startswith("raises "):
            raises, expression = (p.strip() for p in expression[len("raises "):].split("::", 1))
        for dtype in dtypes.split():
            ast.parse(expression, mode="eval")
            yield {"name": name if dtype == "-" else f"{name}.{dtype}", "dtype": dtype, "raises": raises,
                   "inputs": parse_inputs(inputs, dtype), "expression": expression}
