#!/usr/bin/env python3
"""From text to a judged, quick-timed kernel: kernelwright, and the same kernels through torch's extension builder.

Needs a GPU; torch and nvcc for the second half.  Usage: turnaround.py KERNELWRIGHT [--extensions N] [OUT.json]
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = {"B": 16384, "D": 1024}
CASES = {"axpb": {"N": 16777216}, "gelu": {"N": 16777216}, "silu_mul": {"N": 16777216}, "row_sum": ROWS,
         "rms_norm": ROWS, "layer_norm": ROWS, "softmax": ROWS, "log_softmax": ROWS, "cumsum": ROWS,
         "matmul": {"M": 1024, "K": 1024, "N": 1024}}


def ours(kernelwright):
    """All ten as one job: the pool is prepared once per task and reported separately."""
    rows = {}
    for name, dims in CASES.items():
        begin = time.time()
        answer = subprocess.run([kernelwright, "bench", f"{HERE}/{name}.cu", "--reference", f"{HERE}/{name}.py",
                                 "--dims", json.dumps(dims), "--quick", "--cross-check", "never", "--json"],
                                capture_output=True, text=True)
        total = time.time() - begin
        try:
            rows[name] = {"wall": total, **json.loads(answer.stdout).get("seconds", {})}
        except ValueError:
            rows[name] = {"wall": total, "failed": (answer.stdout + answer.stderr)[-300:]}
        print(name, json.dumps(rows[name]), flush=True)
    return rows


def extension(name):
    """Seconds torch.utils.cpp_extension takes to build the module's text with a launcher."""
    from torch.utils.cpp_extension import load_inline
    text = open(f"{HERE}/{name}.cu").read()
    code = "#include <torch/extension.h>\n" + re.sub(r"^//!.*\n", "", text, flags=re.M) + "\nvoid touch(torch::Tensor x) {}\n"
    begin = time.time()
    load_inline(name=f"kw_{name}_{os.getpid()}", cpp_sources="void touch(torch::Tensor x);", cuda_sources=code,
                functions=["touch"], verbose=False)
    return time.time() - begin


def main():
    rows = ours(sys.argv[1])
    count = int(sys.argv[sys.argv.index("--extensions") + 1]) if "--extensions" in sys.argv else 0
    for name in list(CASES)[3:3 + count]:
        rows[name]["extension"] = extension(name)
        print(name, "cpp_extension", round(rows[name]["extension"], 1), "s", flush=True)
    turnarounds = [r["turnaround"] for r in rows.values() if "turnaround" in r]
    if turnarounds:
        print(f"median turnaround {statistics.median(turnarounds):.3f} s over {len(turnarounds)} tasks")
    if sys.argv[-1].endswith(".json"):
        json.dump(rows, open(sys.argv[-1], "w"), indent=1)


main()
