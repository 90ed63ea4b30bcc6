#!/usr/bin/env python3
"""Files with host code that cannot be used, or only in part: each ends with its exit code and says why.

Usage: files_test.py KERNELWRIGHT. Exit 77: no nvcc here.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCES = os.path.join(HERE, "..", "exploits", "references")
KERNEL = """
#include <cuda_runtime.h>
#include <vector>
__global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = fminf(fmaxf(x[i] * 3.0f, -100.0f), 100.0f) + 1.0f;
}
"""
LAUNCH = "const std::vector<int> sizes(static_cast<size_t>(n)); scale<<<(n + 255) / 256, static_cast<unsigned>(256 + 0 * sizes.size())>>>(x, y, n);"
ROWS = [  # name, text, further words, exit code, what is said
    ("an unknown number", 'extern "C" void solve(const float* x, float* y, int n_items) { int n = n_items; %s }' % LAUNCH, [],
     2, "the value of 'n_items' of the launcher is not known"),
    ("a number that is told", 'extern "C" void solve(const float* x, float* y, int n_items) { int n = n_items; %s }' % LAUNCH,
     ["--input", "n_items=N"], 0, '"trust": "foreign"'),
    ("two launchers", 'extern "C" void first(const float* x, float* y, int n) { %s }\nextern "C" void second(const float* x, float* y, int n) { %s }'
     % (LAUNCH, LAUNCH), [], 2, "several launchers"),
    ("one of two launchers", 'extern "C" void first(const float* x, float* y, int n) { %s }\nextern "C" void second(const float* x, float* y, int n) { %s }'
     % (LAUNCH, LAUNCH), ["--launcher", "second"], 0, '"trust": "foreign"'),
    ("no output", 'extern "C" void solve(const float* x, int n) { float* y = nullptr; %s }' % LAUNCH, [], 2, "no parameter of the launcher is the output"),
    ("does not compile", 'extern "C" void solve(const float* x, float* y, int n) { %s undeclared(); }' % LAUNCH, [], 1, "undeclared"),
    ("gives up at odd sizes", 'extern "C" void solve(const float* x, float* y, int n) { if (n %% 2 && n > 1) abort(); %s }' % LAUNCH, [], 0,
     '"trust": "foreign"'),
    ("gives up where it is asked", 'extern "C" void solve(const float* x, float* y, int n) { if (n == 64) abort(); %s }' % LAUNCH,
     ["--dims", '{"N": 64}'], 1, "SIGABRT"),
    ("no such folder", 'extern "C" void solve(const float* x, float* y, int n) { %s }' % LAUNCH, ["--include", "/nowhere"], 2, "there is no folder"),
]


def main():
    kernelwright = sys.argv[1]
    if not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"):
        print("SKIPPED: no nvcc")
        sys.exit(77)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, words, code, said in ROWS:
            path = os.path.join(folder, "candidate.cu")
            with open(path, "w") as file:
                file.write(KERNEL + text + "\n")
            answer = subprocess.run([kernelwright, "verify", path, "--reference", os.path.join(REFERENCES, "clamp_scale.py"), "--device", "vgpu",
                                     "--cross-check", "never", "--json", *words], capture_output=True, text=True, timeout=300)
            if answer.returncode == 3:
                print("SKIPPED:", answer.stderr.strip()[-300:])
                sys.exit(77)
            spoken = answer.stderr
            try:
                spoken += json.dumps(json.loads(answer.stdout))
            except ValueError:
                spoken += answer.stdout
            good = answer.returncode == code and said in spoken
            failed += not good
            print("ok" if good else f"FAILED (code {answer.returncode}, wanted {code} and '{said}'): {spoken[:600]}", name)
    sys.exit(1 if failed else 0)


main()
