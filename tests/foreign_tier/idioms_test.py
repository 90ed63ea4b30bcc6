#!/usr/bin/env python3
"""What torch extensions are written with compiles against the stand-in headers and is recorded: a chain of copies, each in its own way.

Usage: idioms_test.py KERNELWRIGHT. Exit 77: no nvcc, or no torch, here.
"""
import os
import subprocess
import sys
import tempfile

from idioms import HEADERS, IDIOMS

REFERENCE = 'def reference(x: "fp32[B, D]"):\n    y = x * 1.0\n    return y\n'
LITTLE = "#include <torch/extension.h>\n" + HEADERS[HEADERS.index("template"):]
NOT_THERE = [  # what PyTorch's own kernels would do, and what the compiler says
    ("return x.mm(x);", '"mm"'),
    ("return x.sum(1);", '"sum"'), ("return torch::nn::functional::relu(x);", "must be a class or namespace"),
    ("x.mul_(2.0); return x;", '"mul_"'), ("return torch::cat({x, x});", '"cat"'), ("return at::_ops::relu::call(x);", "must be a class or namespace")]
REFUSED = [  # what PyTorch would compute, what is a question of numbers, and what is said
    ("return torch::matmul(x, x);", "at::matmul"), ("return at::softmax(x, 1);", "at::softmax"), ("return x + x;", "operator +"),
    ("return x.contiguous(at::MemoryFormat::ChannelsLast).t().view({-1});", "a view of strided memory"), ("return x;", "one of its inputs"), ("return x.cpu();", "not on the device"),
    ("auto y = torch::empty(x.sizes(), torch::kFloat); copied(x, y); return x.clone();", "host memory")]


def candidate(functions, cuda, called=None):
    return ("import torch\nfrom torch.utils.cpp_extension import load_inline\n\n"
            f"CUDA = {cuda!r}\nCPP = {''.join(f'torch::Tensor {name}(torch::Tensor x);' for name in functions)!r}\n"
            f"NAMES = {functions!r}\nextension = load_inline(name='idioms', cpp_sources=[CPP], cuda_sources=[CUDA], functions=NAMES, verbose=False)\n\n\n"
            f"def forward(x):\n    for name in {called or functions!r}:\n        x = getattr(extension, name)(x)\n    return x\n")


def text_of(idioms, headers=HEADERS):
    return headers + "".join(f'#line 1 "{name}"\n{before}\ntorch::Tensor {name}(torch::Tensor x) {{\n{body}\n}}\n' for name, before, body in idioms)


def verify(kernelwright, folder, text):
    path, reference = os.path.join(folder, "candidate.py"), os.path.join(folder, "same.py")
    for name, content in ((path, text), (reference, REFERENCE)):
        with open(name, "w") as file:
            file.write(content)
    return subprocess.run([kernelwright, "verify", path, "--reference", reference, "--dims", '{"B": 4, "D": 96}', "--device", "vgpu",
                           "--cross-check", "never", "--timeout", "280"], capture_output=True, text=True, timeout=900)


def main():
    failed, kernelwright = 0, sys.argv[1]
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        chosen = [row for row in IDIOMS if not only or row[0] in only]
        answer = verify(kernelwright, folder, candidate([row[0] for row in chosen], text_of(chosen)))
        if answer.returncode == 3:
            print("SKIPPED:", answer.stderr.strip()[-300:])
            sys.exit(77)
        if answer.returncode != 0:
            failed += 1
            print(f"FAILED: {len(chosen)} idioms\n{answer.stdout[-6000:]}{answer.stderr[-1500:]}")
        else:
            print(f"ok {len(chosen)} idioms")
        if not only:
            names = [f"f{i}" for i in range(len(NOT_THERE))]
            rows = [(name, "", body) for name, (body, _) in zip(names, NOT_THERE)]
            answer = verify(kernelwright, folder, candidate(names, text_of(rows, LITTLE)))
            for name, (body, said) in zip(names, NOT_THERE):
                lines = [line for line in answer.stdout.splitlines() if f"{name}:" in line and said in line]
                good = answer.returncode == 1 and lines
                failed += not good
                print("ok" if good else f"FAILED (code {answer.returncode}, wanted '{said}'): {answer.stdout[:1500]}", body)
        names = [f"f{i}" for i in range(len(REFUSED))]
        text = text_of([(name, "", body) for name, (body, _) in zip(names, REFUSED)], LITTLE)  # compiled once for all
        for name, (body, said) in zip(names, REFUSED) if not only else []:
            answer = verify(kernelwright, folder, candidate(names, text, [name]))
            good = answer.returncode == 1 and said in answer.stdout
            failed += not good
            print("ok" if good else f"FAILED (code {answer.returncode}, wanted '{said}'): {answer.stdout[:900]}{answer.stderr[-300:]}", body)
    sys.exit(1 if failed else 0)


main()
