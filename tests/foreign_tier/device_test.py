#!/usr/bin/env python3
"""What Python code of a candidate may do with tensors of the stand-in device: memory is made, copied and looked at, what computes is refused by name.

Usage: device_test.py RECORDER FOLDER      (libkwrecord.so, python/foreign_worker)
Exit 77: no Python with torch ($KW_TORCH_PYTHON).
"""
import json
import os
import subprocess
import sys

PYTHON = os.environ.get("KW_TORCH_PYTHON") or sys.executable
GOOD = [  # an expression of x, 64 floats, and of m, the same as 8 x 8; and what it is
    ("x.is_cuda and x.device == torch.device('cuda', 0) and x.get_device() == 0", True), ("x.data_ptr() == x.data.data_ptr() != 0", True),
    ("m.T.stride()", (1, 8)), ("m.mT.is_contiguous()", False), ("m[1].data_ptr() - x.data_ptr()", 32), ("m[1:3, 2:].stride()", (8, 1)),
    ("tuple(m[..., None].shape)", (8, 8, 1)), ("len(m)", 8), ("m.unbind(0)[2].data_ptr() - x.data_ptr()", 64), ("m.chunk(2, 1)[1].storage_offset()", 4),
    ("m.unsqueeze(0).expand(3, 8, 8).stride()", (0, 8, 1)), ("torch.empty(3, device=x.device).is_cuda", True),
    ("torch.empty((2, 2), device='cuda', dtype=torch.float16).dtype", "torch.float16"), ("torch.empty(3).is_cuda", False),
    ("torch.zeros_like(x).is_cuda", True), ("x.new_empty((3, 4)).is_contiguous()", True), ("x.contiguous() is x", True), ("x.cuda() is x", True),
    ("x.to('cuda') is x", True), ("x.to(torch.float32) is x", True), ("x.float() is x", True), ("m.t().contiguous().stride()", (8, 1)),
    ("x.clone().data_ptr() == x.data_ptr()", False), ("torch.tensor([1.0, 2.0], device='cuda').is_cuda", True), ("torch.tensor([1, 2]).cuda().is_cuda", True),
    ("torch.arange(4).to(x.device).is_cuda", True), ("x.cpu().is_cuda", False), ("isinstance(x[0].item(), float)", True),
    ("torch.cuda.current_stream().cuda_stream", 0), ("torch.cuda.get_device_properties(0).multi_processor_count", 132),
    ("torch.cuda.get_device_capability()", (9, 0)), ("x.requires_grad", False), ("torch.nn.Parameter(x).data_ptr() == x.data_ptr()", True),
    ("torch.manual_seed(0) is not None", True), ("(x.half().dtype, x.half().is_cuda)", "(torch.float16, True)"),
    ("torch.arange(4, device='cuda').is_cuda", True)]
WRITTEN = [  # what stands in the recording
    ("torch.zeros(3, device='cuda')", "fill A 12 1 12 0 4 0"), ("torch.full((3,), 1.0, device='cuda')", "fill A 12 1 12 1065353216 4 0"),
    ("torch.ones(3, device='cuda', dtype=torch.half)", "fill A 6 1 6 15360 2 0"), ("torch.empty(3, device='cuda').fill_(-1)", "fill A 12 1 12 3212836864 4 0"),
    ("x.clone()", "copy A X 256 1 256 256 0"), ("m.t().contiguous()", "move A X 4 2 8 8 1 8 1 8 0"),
    ("torch.tensor([1, 2], dtype=torch.int16).cuda()", "upload A 01000200 0"), ("x.cpu()", "download X 256"),
    ("torch.arange(2, device='cuda', dtype=torch.int16)", "upload A 00000100 0")]
REFUSED = [  # and by which name
    ("x + 1", "add"), ("torch.relu(x)", "relu"), ("x.mul_(2)", "mul_"), ("m @ m", "mm"), ("torch.matmul(m, m)", "mm"), ("x.sum()", "sum"),
    ("torch.nn.functional.conv1d(x.view(1, 8, 8), x.view(8, 8, 1))", "convolution"), ("torch.softmax(m, 1)", "_softmax"),
    ("torch.cat([x, x])", "cat"), ("x > 0", "gt"), ("torch.randn(4, device='cuda')", "randn"),
    ("torch.nn.Linear(8, 8)(m)", None), ("torch.compile(lambda y: y)(x)", "torch.compile")]


def answer_of(recorder, folder, text):
    def tensor(name, role):
        return {"name": name, "role": role, "dtype": "fp32", "shape": [64]}

    files = {}
    for name in ("common", "device", "extension", "ptx", "triton_device", "cute_device", "world", "stand_in"):
        with open(os.path.join(folder, name + ".py")) as file:
            files[name] = file.read()
    attributes = {"-2": 1 << 36, "-3": 1, "1": 1024, "8": 49152, "16": 132, "38": 1 << 25, "39": 2048, "75": 9, "76": 0, "81": 233472, "82": 65536,
                  "97": 232448}
    job = {"worker": "stand_in", "files": files, "path": "/candidate.py", "text": text, "function": "", "task": "t", "inputs": ["x"], "outputs": ["y"],
           "cases": [{"tensors": [tensor("x", "input"), tensor("y", "output")], "numbers": {}}], "runtime": recorder, "attributes": attributes,
           "extensions": {}, "triton": False, "cute": None, "memory_bytes": 1 << 36, "base": 1 << 47, "seed": 7, "far_calls": 0,
           "variables": None, "module": "candidate"}
    with open(os.path.join(folder, "boot.py")) as file:
        boot = file.read()
    done = subprocess.run([PYTHON, "-I", "-B", "-W", "ignore", "-c", boot], input=json.dumps(job), capture_output=True, text=True, timeout=300,
                          env={"OMP_NUM_THREADS": "1", "USER": "nobody"})
    try:
        return json.loads(done.stdout.splitlines()[-1]), done.stderr
    except (IndexError, ValueError):
        print(f"FAILED: no answer (code {done.returncode}): {done.stderr[-800:]}")
        sys.exit(1)


def calls(answer):
    """The lines of each first call, with addresses by name."""
    lines = answer["recording"].splitlines()
    base = next(line.split()[2] for line in lines if line.startswith("tensor 0 "))
    first = lines[lines.index("call") + 1:]
    first = first[:first.index("end")] if "end" in first else first
    fresh = [line.split()[1] for line in first if line.startswith("alloc ")]
    return [" ".join("X" if word == base else "A" if word in fresh else word for word in line.split(" ")) for line in first]


def main():
    recorder, folder = sys.argv[1:3]
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        print("SKIPPED: no Python with torch; KW_TORCH_PYTHON names one")
        sys.exit(77)
    failed = 0
    head = "import torch\n\n\ndef forward(x):\n    m = x.view(8, 8)\n"
    # All in one process: what fails says so in its place.
    text = head + "    said = []\n" + "".join(
        f"    try:\n        said.append(repr({row[0]}))\n    except Exception as error:\n        said.append(str(error))\n" for row in (*GOOD, *REFUSED))
    _, printed = answer_of(recorder, folder, text + "    print('said', __import__('json').dumps(said), flush=True)\n")
    said = json.loads(next(line for line in printed.splitlines() if line.startswith("said "))[5:])
    for (expression, want), got in zip(GOOD, said):
        good = got == (want if isinstance(want, str) else repr(want))
        failed += not good
        print("ok" if good else f"FAILED: {got}, not {want}", expression)
    for (expression, name), got in zip(REFUSED, said[len(GOOD):]):
        good = (f"it calls aten::{name}," in got or f"it calls {name}," in got) if name else "aten::" in got
        failed += not good
        print("ok" if good else f"FAILED: {got}, not {name}", expression)
    answer, _ = answer_of(recorder, folder, head + "".join(f"    {row[0]}\n" for row in WRITTEN) + "    return torch.empty_like(x)\n")
    written = calls(answer)
    for expression, want in WRITTEN:
        failed += want not in written
        print("ok" if want in written else f"FAILED: '{want}' is not among {written}", expression)
    sys.exit(1 if failed else 0)


main()
