#!/usr/bin/env python3
"""What torch extensions are written with compiles against the stand-in headers and is recorded: a chain of copies, each in its own way.

Usage: idioms_test.py KERNELWRIGHT [NAME...|--refused]. Exit 77: no nvcc, or no torch, here.
NAME: these idioms only. --refused: the rest of what is refused, whose like is in the test without it.
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
    ("return torch::matmul(x, x);", "at::matmul"), ("return x + x;", "operator +"),
    ("return x.contiguous(at::MemoryFormat::ChannelsLast).t().view({-1});", "a view of strided memory"),
    ("auto y = torch::empty(x.sizes(), torch::kFloat); copied(x, y); return x.clone();", "host memory")]
REST_REFUSED = [("return at::softmax(x, 1);", "at::softmax"), ("return x;", "one of its inputs"), ("return x.cpu();", "not on the device")]


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


def skip_where_it_cannot(answer):
    if answer.returncode == 3:
        print("SKIPPED:", answer.stderr.strip()[-300:])
        sys.exit(77)


def try_idioms(kernelwright, folder, chosen):
    answer = verify(kernelwright, folder, candidate([row[0] for row in chosen], text_of(chosen)))
    skip_where_it_cannot(answer)
    if answer.returncode != 0:
        print(f"FAILED: {len(chosen)} idioms\n{answer.stdout[-6000:]}{answer.stderr[-1500:]}")
        return 1
    print(f"ok {len(chosen)} idioms")
    return 0


def try_not_there(kernelwright, folder):
    failed = 0
    names = [f"f{i}" for i in range(len(NOT_THERE))]
    rows = [(name, "", body) for name, (body, _) in zip(names, NOT_THERE)]
    answer = verify(kernelwright, folder, candidate(names, text_of(rows, LITTLE)))
    for name, (body, said) in zip(names, NOT_THERE):
        lines = [line for line in answer.stdout.splitlines() if f"{name}:" in line and said in line]
        good = answer.returncode == 1 and lines
        failed += not good
        print("ok" if good else f"FAILED (code {answer.returncode}, wanted '{said}'): {answer.stdout[:1500]}", body)
    return failed


def try_refused(kernelwright, folder, chosen):
    failed, rows = 0, REFUSED + REST_REFUSED
    names = [f"f{i}" for i in range(len(rows))]
    text = text_of([(name, "", body) for name, (body, _) in zip(names, rows)], LITTLE)  # compiled once for all
    for name, (body, said) in zip(names, rows):
        if (body, said) not in chosen:
            continue
        answer = verify(kernelwright, folder, candidate(names, text, [name]))
        skip_where_it_cannot(answer)
        good = answer.returncode == 1 and said in answer.stdout
        failed += not good
        print("ok" if good else f"FAILED (code {answer.returncode}, wanted '{said}'): {answer.stdout[:900]}{answer.stderr[-300:]}", body)
    return failed


def main():
    kernelwright, only = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        if only == ["--refused"]:
            failed = try_refused(kernelwright, folder, REST_REFUSED)
        else:
            failed = try_idioms(kernelwright, folder, [row for row in IDIOMS if not only or row[0] in only])
            if not only:
                failed += try_not_there(kernelwright, folder) + try_refused(kernelwright, folder, REFUSED)
    sys.exit(1 if failed else 0)


main()
