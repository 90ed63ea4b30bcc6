"""Runs the op table with PyTorch on the CPU.

  run_torch.py OUT            every case in full, for the cross-check
  run_torch.py OUT --record   a few elements of each, for machines without PyTorch (expected.txt)

A line of the result: name | dtype[shape] hex hex … | …, one part per output, each element's bytes as one hexadecimal
number; or: name | raises TEXT.
"""
import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F

import table

RECORDED = 12  # elements per output, spread evenly
DTYPES = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
          "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8, "uint8": torch.uint8,
          "bool": torch.bool, "fp8e4m3": torch.float8_e4m3fn, "fp8e5m2": torch.float8_e5m2}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def make_input(spec, case):
    numbers = table.values(spec, table.seed_of(case["name"] + "/" + spec["name"]))
    dtype = torch.float64 if spec["dtype"] in table.FLOATS else torch.int64
    return torch.tensor(numbers, dtype=dtype).to(DTYPES[spec["dtype"]]).reshape(spec["shape"])


def flatten(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [one for part in result for one in flatten(part)]
    raise TypeError(f"a case gives tensors, not {type(result).__name__}")


def words(tensor, record):
    flat = tensor.detach().contiguous().reshape(-1)
    count = flat.numel()
    flat = flat.to(torch.uint8) if flat.dtype == torch.bool else flat
    size = flat.element_size()
    raw = flat.view(BITS[size]).tolist()
    if record and count > RECORDED:
        raw = [raw[i * (count - 1) // (RECORDED - 1)] for i in range(RECORDED)]
    return [format(v & (1 << 8 * size) - 1, f"0{2 * size}x") for v in raw]


def rounds_on_the_way(case):
    """Where the CPU has no fp16 of its own, PyTorch adds a transposed convolution's terms up in fp16."""
    halves = any(spec["dtype"] == "fp16" for spec in case["inputs"])
    return halves and "conv_transpose" in case["expression"] and not torch.ops.mkldnn._is_mkldnn_fp16_supported()


def evaluate(case):
    scope = {"torch": torch, "F": F, "math": __import__("math")}
    wide = rounds_on_the_way(case)
    for spec in case["inputs"]:
        value = make_input(spec, case)
        scope[spec["name"]] = value.float() if wide and spec["dtype"] == "fp16" else value
    result = eval(case["expression"], scope)
    return [tensor.half() for tensor in flatten(result)] if wide else result


def run(case, record):
    try:
        result = evaluate(case)
    except Exception as error:
        return "raises " + " ".join(str(error).split())[:200].replace("|", "/")
    parts = []
    for tensor in flatten(result):
        shape = ",".join(str(v) for v in tensor.shape)
        parts.append(" ".join([f"{NAMES[tensor.dtype]}[{shape}]"] + words(tensor, record)))
    return " | ".join(parts)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    record = "--record" in sys.argv[2:]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(f"# PyTorch {torch.__version__.split('+')[0]}\n")
        for path in sorted(pathlib.Path(__file__).parent.glob("tables/*.txt")):
            for case in table.cases(path.read_text(encoding="utf-8")):
                out.write(f"{case['name']} | {run(case, record)}\n")


if __name__ == "__main__":
    main()
