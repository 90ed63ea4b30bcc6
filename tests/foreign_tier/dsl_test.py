#!/usr/bin/env python3
"""Triton's and CuTe DSL's candidates without a GPU: what they are written with is recorded and judged, what they may not do is refused by name.

Usage: dsl_test.py KERNELWRIGHT triton|cute [NAME…]. Exit 77: no Python with torch and that ($KW_TORCH_PYTHON).
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile

cases = importlib.import_module(sys.argv[2] + "_cases")
DEVICE = os.environ.get("KW_TEST_DEVICE", "vgpu")


def verify(kernelwright, folder, reference, text):
    said, dims = cases.REFERENCES[reference]
    paths = os.path.join(folder, "candidate.py"), os.path.join(folder, reference + ".py")
    for path, content in zip(paths, (cases.HEAD + text, said)):
        with open(path, "w") as file:
            file.write(content)
    return subprocess.run([kernelwright, "verify", paths[0], "--reference", paths[1], "--dims", json.dumps(dims), "--device", DEVICE,
                           "--cross-check", "never", "--timeout", "120"], capture_output=True, text=True, timeout=600)


def main():
    failed, (kernelwright, _, *only) = 0, sys.argv[1:]
    rows = [(*row, 0) for row in cases.PASS] + [(*row, 1) for row in cases.REFUSED]
    with tempfile.TemporaryDirectory() as folder:
        for name, reference, text, said, code in rows:
            if only and name not in only:
                continue
            answer = verify(kernelwright, folder, reference, text)
            if answer.returncode == 3:
                print("SKIPPED:", answer.stderr.strip()[-300:])
                sys.exit(77)
            spoken = " ".join((answer.stdout + answer.stderr).split())
            good = answer.returncode == code and said in spoken
            failed += not good
            print("ok" if good else f"FAILED (code {answer.returncode}, wanted {code} and '{said}'): {answer.stdout[:1500]}{answer.stderr[-600:]}", name, flush=True)
    sys.exit(1 if failed else 0)


main()
