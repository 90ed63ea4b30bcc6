#!/usr/bin/env python3
"""Python candidates on a GPU: honest Triton passes and is timed, PyTorch's own kernels and caches are refused by name.

Usage: python_test.py KERNELWRIGHT. Exit 77: no GPU, or no torch that sees it.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCES = os.path.join(HERE, "..", "exploits", "references")
ROWS = [("clamp_scale_triton", 0, ""), ("softmax_model", 0, ""), ("softmax_torch", 1, "aten::_softmax"),
        ("clamp_scale_cached", 1, "from call to call")]


def main():
    failed = 0
    for name, code, said in ROWS:
        reference = os.path.join(REFERENCES, name.rsplit("_", 1)[0] + ".py")
        answer = subprocess.run([sys.argv[1], "verify", os.path.join(HERE, name + ".py"), "--reference", reference, "--device", "gpu", "--json"],
                                capture_output=True, text=True, timeout=400)
        if answer.returncode == 3:
            print("SKIPPED:", answer.stderr.strip()[-300:])
            sys.exit(77)
        report = json.loads(answer.stdout)
        good = answer.returncode == code and report.get("trust") == "foreign" and said in json.dumps(report)
        failed += not good
        print("ok" if good else f"FAILED: {answer.stdout[:500]} {answer.stderr[-500:]}", name)
    sys.exit(1 if failed else 0)


main()
