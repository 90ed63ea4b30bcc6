"""Gradients of the op table's cases by torch.autograd on the CPU, with drawn upstream gradients.

  run_autograd.py OPS_DIR OUT [EVERY]     EVERY n: each n-th case

A line of the result: name | dtype[shape] hex … | …, one part per float input, zeros where it has no gradient; or:
name | raises TEXT.
"""
import pathlib
import sys
import warnings

sys.path.insert(0, sys.argv[1])

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import run_torch  # noqa: E402
import table  # noqa: E402

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def upstream(case, index, like):
    spec = {"name": f"grad_out{index}", "dtype": run_torch.NAMES[like.dtype], "shape": list(like.shape),
            "family": "normal"}
    return run_torch.make_input(spec, case)


def gradients(case):
    scope = {"torch": torch, "F": F, "math": __import__("math")}
    leaves = []
    for spec in case["inputs"]:
        value = run_torch.make_input(spec, case)
        if value.dtype in FLOATS:
            leaves.append(value.requires_grad_())
            value = value.clone()  # so that it may be written in place
        scope[spec["name"]] = value
    outputs = run_torch.flatten(eval(case["expression"], scope))
    pairs = [(out, upstream(case, i, out)) for i, out in enumerate(outputs) if out.requires_grad]
    if not pairs:
        raise ValueError("nothing to differentiate")
    found = torch.autograd.grad([out for out, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True)
    # autograd may give zeros that have no memory
    return [torch.zeros_like(leaf) if g is None else torch.zeros_like(leaf) + g for leaf, g in zip(leaves, found)]


def run(case):
    try:
        found = gradients(case)
    except Exception as error:
        return "raises " + " ".join(str(error).split())[:200].replace("|", "/")
    parts = []
    for tensor in found:
        shape = ",".join(str(v) for v in tensor.shape)
        parts.append(" ".join([f"{run_torch.NAMES[tensor.dtype]}[{shape}]"] + run_torch.words(tensor, False)))
    return " | ".join(parts)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    torch.backends.mkldnn.set_flags(False)  # its half kernels need more of a CPU than it says
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        number = 0
        for path in sorted(pathlib.Path(sys.argv[1]).glob("tables/*.txt")):
            for case in table.cases(path.read_text(encoding="utf-8")):
                if case["raises"] is not None:
                    continue
                number += 1
                if number % every == 0:
                    out.write(f"{case['name']} | {run(case)}\n")
                    out.flush()


if __name__ == "__main__":
    main()
