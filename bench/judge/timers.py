#!/usr/bin/env python3
"""Three clocks on the same kernels: kernelwright bench, triton.testing.do_bench and ncu.

Needs a GPU, torch, triton, nvcc and ncu.  Usage: timers.py KERNELWRIGHT [OUT.json]
Clocks, power and modes of the card are left alone.
"""
import csv
import ctypes
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# name, dims, tensors (dtype, dims) in launch order, then ints and floats, grid, block
CASES = [
    ("row_sum", {"B": 1024, "D": 1024}), ("rms_norm", {"B": 4096, "D": 1024}),
    ("softmax", {"B": 4096, "D": 1024}), ("row_sum", {"B": 16384, "D": 1024}),
    ("layer_norm", {"B": 16384, "D": 1024}), ("log_softmax", {"B": 16384, "D": 4096}),
    ("rms_norm", {"B": 65536, "D": 4096}), ("cumsum", {"B": 65536, "D": 4096}),
    ("softmax", {"B": 65536, "D": 8192}), ("matmul", {"M": 3072, "K": 3072, "N": 3072}),
]
ROWS = {
    "row_sum": ("float32", ["BD"], ["B"], "D", []),
    "rms_norm": ("float16", ["BD", "D"], ["BD"], "D", [1e-5]),
    "layer_norm": ("float32", ["BD", "D", "D"], ["BD"], "D", [1e-5]),
    "softmax": ("float32", ["BD"], ["BD"], "D", []),
    "log_softmax": ("float16", ["BD"], ["BD"], "D", []),
    "cumsum": ("float32", ["BD"], ["BD"], "BD", []),
    "matmul": ("float32", ["MK", "KN"], ["MN"], "MNK", []),
}


def geometry(name, dims):
    if name == "matmul":
        return (-(-dims["N"] // 32), -(-dims["M"] // 32)), (32, 8)
    if name == "cumsum":
        return (-(-dims["B"] // 8), 1), (32, 8)
    return (dims["B"], 1), (256, 1)


def launcher(name, dims, folder):
    """A function that launches the kernel once on torch's current stream."""
    import torch
    cubin = os.path.join(folder, name + ".cubin")
    if not os.path.exists(cubin):
        subprocess.run(["nvcc", "-cubin", "-arch=sm_90", "-std=c++17", "-O3", "-o", cubin,
                        os.path.join(HERE, name + ".cu")], check=True)
    torch.zeros(1, device="cuda")
    cuda = ctypes.CDLL("libcuda.so.1")

    def ok(code):
        if code:
            raise RuntimeError(f"CUDA error {code}")
    module, function = ctypes.c_void_p(), (ctypes.c_void_p * 1)()
    ok(cuda.cuModuleLoad(ctypes.byref(module), cubin.encode()))
    ok(cuda.cuModuleEnumerateFunctions(function, 1, module))
    dtype, ins, outs, ints, floats = ROWS[name]
    tensors = [torch.randn([dims[d] for d in shape], device="cuda").to(getattr(torch, dtype)) for shape in ins]
    tensors += [torch.empty([dims[d] for d in shape], device="cuda", dtype=getattr(torch, dtype)) for shape in outs]
    values = [ctypes.c_void_p(t.data_ptr()) for t in tensors]
    values += [ctypes.c_int(dims[d]) for d in ints] + [ctypes.c_float(f) for f in floats]
    params = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
    (gx, gy), (bx, by) = geometry(name, dims)

    def launch():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        ok(cuda.cuLaunchKernel(ctypes.c_void_p(function[0]), gx, gy, 1, bx, by, 1, 0, stream, params, None))
    launch.keep = (tensors, values, params)
    return launch


def do_bench(name, dims, folder):
    from triton.testing import do_bench as measure
    return 1000 * measure(launcher(name, dims, folder), warmup=50, rep=200, return_mode="median")


def ncu(name, dims, folder):
    command = ["ncu", "--clock-control", "none", "--cache-control", "all", "--csv", "--launch-count", "9",
               "--kernel-name", "regex:" + name, "--metrics", "gpu__time_duration.sum",
               sys.executable, __file__, "--launch", name, json.dumps(dims), folder]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    start = text.find('"ID"')
    if start < 0:
        return None
    times = []
    for row in csv.DictReader(io.StringIO(text[start:])):
        value = float(row["Metric Value"].replace(",", ""))
        times.append(value * {"ns": 1e-3, "us": 1, "usecond": 1, "nsecond": 1e-3, "ms": 1e3, "msecond": 1e3}[row["Metric Unit"]])
    return sorted(times)[len(times) // 2] if times else None


def ours(kernelwright, name, dims):
    answer = subprocess.run([kernelwright, "bench", f"{HERE}/{name}.cu", "--reference", f"{HERE}/{name}.py",
                             "--dims", json.dumps(dims), "--cross-check", "never", "--json"], capture_output=True, text=True)
    if answer.returncode:
        print(answer.stdout[-800:], answer.stderr[-800:])
        return None
    return json.loads(answer.stdout)["candidate"]["timing"]["median_us"]


def main():
    if sys.argv[1] == "--launch":
        launch = launcher(sys.argv[2], json.loads(sys.argv[3]), sys.argv[4])
        for _ in range(12):
            launch()
        import torch
        torch.cuda.synchronize()
        return
    folder = tempfile.mkdtemp()
    rows = []
    print(f"{'kernel':12} {'shape':>18} {'ours us':>10} {'do_bench':>10} {'ncu':>10}  {'/do_bench':>9} {'/ncu':>7}")
    for name, dims in CASES:
        shape = "x".join(str(v) for v in dims.values())
        a, b, c = ours(sys.argv[1], name, dims), do_bench(name, dims, folder), ncu(name, dims, folder)
        ratio = lambda x, y: f"{x / y:.3f}" if x and y else "-"
        show = lambda x: f"{x:.2f}" if x else "-"
        print(f"{name:12} {shape:>18} {show(a):>10} {show(b):>10} {show(c):>10}  {ratio(a, b):>9} {ratio(a, c):>7}", flush=True)
        rows.append({"kernel": name, "dims": dims, "ours_us": a, "do_bench_us": b, "ncu_us": c})
    if len(sys.argv) > 2:
        json.dump(rows, open(sys.argv[2], "w"), indent=1)
    shutil.rmtree(folder)


main()
