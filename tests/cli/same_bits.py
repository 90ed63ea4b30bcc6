"""The attributes of a pass through the real binary: deterministic, batch-invariant, the order of its sum; and --require."""
import glob
import json
import os
import re
import sys

from harness import Harness

h = Harness(sys.argv[1])
VGPU = ["--device", "vgpu", "--compiler", h.compiler(), "--cross-check", "never"]
SUM = h.write("total.py", 'import torch\n\n\ndef total(x: "fp32[B, D]"):\n    return x.sum(dim=-1)\n')
HEAD = "//! kernelwright 1\n//! task total\n//! input x: fp32[B, D]\n//! output y: fp32[B]\n"
BY_WARP = """__global__ void by_warp(const float* x, float* y, int D) {
  float sum = 0;
  for (int i = threadIdx.x; i < D; i += 32) sum += x[(long long)blockIdx.x * D + i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
"""
BY_THREAD = """__global__ void by_thread(const float* x, float* y, int B, int D) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= B) return;
  float sum = 0;
  for (int i = 0; i < D; ++i) sum += x[(long long)row * D + i];
  y[row] = sum;
}
"""
ATOMIC = """__global__ void by_part(const float* x, float* y, int D) {
  float sum = 0;
  for (int i = blockIdx.y * 32 + threadIdx.x; i < D; i += 8 * 32) sum += x[(long long)blockIdx.x * D + i];
  atomicAdd(&y[blockIdx.x], sum);
}
"""
STEADY = h.write("steady.cu", HEAD + "//! launch by_warp grid(B) block(32) args(x, y, D)\n" + BY_WARP)
VARYING = h.write("varying.cu", HEAD + "//! when B >= 8\n//! launch by_warp grid(B) block(32) args(x, y, D)\n//! when true\n"
                  "//! launch by_thread grid(ceil_div(B, 64)) block(64) args(x, y, B, D)\n" + BY_WARP + BY_THREAD)
RACING = h.write("racing.cu", HEAD + "//! launch clear grid(B) block(1) args(y)\n//! launch by_part grid(B, 8) block(32) args(x, y, D)\n"
                 "__global__ void clear(float* y) { y[blockIdx.x] = 0; }\n" + ATOMIC)


def verify(module, *more, reference=SUM):
    return ["verify", module, "--reference", reference, *VGPU, "--dims", '{"B": 40, "D": 512}', *more]


def refuses(name, words, pattern):
    done = h.run(*words)
    h.check(done.returncode == 1 and re.search("REJECTED.*" + pattern, done.stdout, re.S), name, done)


def verdict(module):
    return json.loads(h.run(*verify(module, "--json")).stdout)


steady = verdict(STEADY)
h.check(steady["deterministic"] is True and steady["batch_invariant"] is True, "steady: %s" % steady)
h.check(steady["batch"]["dims"] == ["B"] and steady["batch"]["batches"] > 8, "steady's batches: %s" % steady["batch"])
h.check(steady["sum_order"] == "512 terms: partial sums of 16, 32 apart, joined in 5 steps", "order: %s" % steady["sum_order"])
h.expect("steady, required", verify(STEADY, "--require", "deterministic,batch-invariant"), 0, r"batch invariant yes: along B")

varying = verdict(VARYING)
h.check(varying["verdict"] == "passed" and varying["batch_invariant"] is False, "varying: %s" % varying)
h.check("the order of the sum changes" in varying["batch"]["why"] and "one after another" in varying["batch"]["why"],
        "varying's reason: %s" % varying["batch"])
refuses("varying, required", verify(VARYING, "--require", "batch-invariant"),
        r"batch invariance is required.*differ between batches.*--require batch-invariant")
h.expect("varying is deterministic", verify(VARYING, "--require", "deterministic"), 0, r"PASSED")

racing = verdict(RACING)
h.check(racing["verdict"] == "passed" and racing["deterministic"] is False, "racing: %s" % racing)
refuses("racing, required", verify(RACING, "--require", "deterministic"), r"demands determinism")

h.expect("unknown word", verify(STEADY, "--require", "fast"), 2, r"'fast'")
h.expect("search", ["synthesize", "--reference", SUM, *VGPU, "--candidates", "3", "--require", "batch-invariant,deterministic",
                    "--dims", '{"B": 64, "D": 256}', "--out", h.folder], 0, r"bits +deterministic, batch-invariant along B")
h.expect("a name that is empty", verify(STEADY, "--require", "deterministic,,batch-invariant"), 2, r"holds an empty name")


# Every command that makes or judges kernels refuses by it: each takes the word, and none ships a kernel without the property.
BOTH = ["--require", "deterministic,batch-invariant"]
SMALL = ["--dims", '{"B": 64, "D": 256}', *BOTH]
done = h.run("optimize", RACING, "--ref", SUM, *VGPU, "--iterations", "1", "--branches", "1", "--out", h.path("optimized"), *SMALL)
h.check(done.returncode != 0 and re.search("demands determinism", done.stdout + done.stderr), "optimize, a baseline that races", done)
done = h.run("optimize", STEADY, "--ref", SUM, *VGPU, "--iterations", "1", "--branches", "1", "--budget-seconds", "5",
             "--out", h.path("optimized"), *SMALL)
h.check(done.returncode == 0, "optimize, a steady baseline", done)
done = h.run("evolve", SUM, *VGPU, "--generations", "1", "--proposals", "2", "--hardware", "2", "--budget-seconds", "5", "--out", h.path("evolved"),
             "--versus", "none", *SMALL)
h.check(done.returncode == 0 and re.search(r"bits +deterministic, batch-invariant along B", done.stdout), "evolve", done)
os.mkdir(h.path("suite"))
h.write("suite/total.py", open(SUM, encoding="utf-8").read())
done = h.run("eval", "--suite", h.path("suite"), *VGPU, "--candidates", "1", "--versus", "none", "--budget-seconds", "5", "--out", h.path("evaluated"),
             "--yes", *SMALL)
h.check(done.returncode == 0, "eval", done)
reports = glob.glob(h.path("evaluated/artifacts/total/*/report.json"))
correctness = json.load(open(reports[0], encoding="utf-8"))["correctness"] if reports else {}
h.check(correctness.get("deterministic") is True and correctness.get("batch_invariant") is True, "eval's kernel: %s" % correctness)
h.finish()
