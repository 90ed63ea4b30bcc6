"""run and check through the real binary: numbers in, numbers out, findings, JSON, colour."""
import json
import math
import os
import pty
import struct
import subprocess
import sys

from harness import Harness, ROOT, npy

h = Harness(sys.argv[1])
compiler = h.compiler()
VGPU = ["--device", "vgpu", "--compiler", compiler]
GOOD = os.path.join(ROOT, "examples", "rms_norm.cu")


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    return eval(data[10:10 + length]), data[10 + length:]  # a dict literal our own program wrote


# Numbers in by .npy, out by .npy, against a reference.
rows, columns = 3, 80
x = [math.sin(i * 0.37) * (1 + i % 7) for i in range(rows * columns)]
x = list(struct.unpack("<%de" % len(x), struct.pack("<%de" % len(x), *x)))
source = h.write("x.npy", npy("<f2", (rows, columns), struct.pack("<%de" % len(x), *x)))
done = h.expect("run with files", ["run", GOOD, "--input", "x=" + source, "--scalar", "eps=0.25", "--output", "out", *VGPU], 0, r"no findings.*wrote out/y\.npy")
h.check("\033" not in done.stdout + done.stderr, "no colour in a pipe", done)
header, data = read_npy(h.path("out/y.npy"))
h.check(header == {"descr": "<f2", "fortran_order": False, "shape": (rows, columns)}, "header of y.npy: %s" % header)
y = struct.unpack("<%de" % len(x), data)
worst = 0.0
for row in range(rows):
    part = x[row * columns:(row + 1) * columns]
    scale = 1 / math.sqrt(sum(v * v for v in part) / columns + 0.25)
    worst = max([worst] + [abs(v * scale - w) / max(abs(v * scale), 2.0 ** -14) for v, w in zip(part, y[row * columns:])])
h.check(worst < 2.0 ** -10, "result against the reference: %g" % worst)

# Fortran order and explicit --dims give the same bits.
transposed = [x[r * columns + c] for c in range(columns) for r in range(rows)]
h.write("t.npy", npy("<f2", (rows, columns), struct.pack("<%de" % len(x), *transposed), True))
h.expect("Fortran order", ["run", GOOD, "--dims", '{"B": 3, "D": 80}', "--input", "x=t.npy", "--scalar", "eps=0.25", "--output", "out2", *VGPU], 0, "wrote")
h.check(read_npy(h.path("out2/y.npy"))[1] == data, "Fortran order gives the same result")


def run_json(*words, code=0):
    finished = h.run("run", *words, *VGPU, "--json")
    h.check(finished.returncode == code, "exit %d of %s" % (code, words), finished)
    try:
        return json.loads(finished.stdout)
    except ValueError:
        h.check(False, "JSON of %s" % (words,), finished)
        h.finish()


# JSON: stable keys, same seed same bits whatever the threads, tunables and targets chosen as told.
document = run_json(GOOD, "--dim", "B=5", "--dim", "D=64", "--threads", "1")
h.check(document["ok"] and document["status"] == "completed" and document["findings"] == [], "clean run")
h.check(document["device"]["virtual"] is True and document["timing"] is None, "the virtual GPU has no times")
for key in ("kernelwright", "command", "exit_code", "module", "device", "notes", "dims", "group", "tunes", "compile", "outputs", "counters", "seconds", "printed", "message"):
    h.check(key in document, "JSON has " + key)
output = document["outputs"][0]
h.check(output["name"] == "y" and output["dtype"] == "fp16" and output["shape"] == [5, 64] and output["nans"] == 0, "output summary: %s" % output)
again = run_json(GOOD, "--dim", "B=5", "--dim", "D=64", "--threads", "2", "--check-order")
h.check(again["outputs"][0]["hash"] == output["hash"], "threads do not change results")
h.check(again["compile"]["from_cache"] is True, "the second compile comes from the cache")
h.check(run_json(GOOD, "--dim", "B=5", "--dim", "D=64", "--seed", "1")["outputs"][0]["hash"] != output["hash"], "another seed, other inputs")
odd = run_json(GOOD, "--dim", "B=5", "--dim", "D=63", "--tune", "THREADS=512", "--target", "sm_80")
h.check(odd["group"] == 1 and odd["tunes"]["THREADS"] == 512 and odd["compile"]["target"] == "sm_80", "guards, tunables, target")
nans = run_json(GOOD, "--dim", "B=5", "--dim", "D=640", "--input", "x=special:3")
h.check(nans["outputs"][0]["nans"] > 0, "special inputs make NaN")

empty = run_json(GOOD, "--dim", "B=0", "--dim", "D=64", "--output", "empty")
h.check(empty["ok"] and empty["outputs"][0]["shape"] == [0, 64] and empty["outputs"][0]["max"] is None, "a dim of 0 is an empty tensor")
h.check(read_npy(h.path("empty/y.npy")) == ({"descr": "<f2", "fortran_order": False, "shape": (0, 64)}, b""), "an empty .npy")

# Counters: a second pass with exact numbers.
counted = run_json(GOOD, "--dim", "B=5", "--dim", "D=64", "--counters")
total = counted["counters"][0]["total"]
h.check(total["global_store_bytes"] == 5 * 64 * 2, "bytes stored are exact: %s" % total["global_store_bytes"])
h.check(total["warp_instructions"] > 0 and any(line["line"] > 0 for line in counted["counters"][0]["lines"]), "counters per line")
h.expect("counters as text", ["run", GOOD, "--dim", "B=5", "--dim", "D=64", "--counters", *VGPU], 0, r"counters of rms_norm<128, 8>.*warp instructions.*sectors")

# Optional inputs, integer scalars, printf, inout and scratch.
module = h.write("parts.cu", """//! kernelwright 1
//! task    parts
//! input   x: fp32[N]
//! input   bias?: fp32[N]
//! inout   total: int32[1]
//! scalar  shift: int32 = 1
//! scratch parts: int32[N] = 0
//! output  y: fp32[N]
//! launch  parts grid(1) block(N) args(x, bias, total, shift, parts, y)
__global__ void parts(const float* x, const float* bias, int* total, int shift, int* parts, float* y) {
  const int i = threadIdx.x;
  parts[i] += i + shift;
  y[i] = x[i] + (bias != nullptr ? bias[i] : 100.0f);
  atomicAdd(total, parts[i]);
}
""")
with_bias = run_json(module, "--dim", "N=4", "--input", "x=iota", "--input", "bias=ones", "--input", "total=zeros")
h.check([o["max"] for o in with_bias["outputs"]] == [10, 4] or {o["name"]: o["max"] for o in with_bias["outputs"]} == {"total": 10, "y": 4}, "optional given: %s" % with_bias["outputs"])
without = run_json(module, "--dim", "N=4", "--input", "x=iota", "--absent", "bias", "--input", "total=zeros", "--scalar", "shift=5")
h.check({o["name"]: o["max"] for o in without["outputs"]} == {"total": 26, "y": 103}, "optional absent, scalar set: %s" % without["outputs"])

# A candidate that does not compile: exit 1, with its line.
bad = h.write("syntax.cu", """//! kernelwright 1
//! task   oops
//! output y: fp32[N]
//! launch oops grid(1) block(32) args(y)
__global__ void oops(float* y) {
  y[threadIdx.x] = undeclared_name;
}
""")
h.check("undeclared_name" in h.run("run", bad, "--dim", "N=32", *VGPU).stdout, "compile errors are shown")
document = run_json(bad, "--dim", "N=32", code=1)
h.check(document["compile"]["ok"] is False and any(m["line"] == 6 for m in document["compile"]["messages"]), "compile error at its line: %s" % document["compile"]["messages"])
h.check(h.run("check", bad, "--compiler", compiler).returncode == 1, "check of it exits 1")

# A candidate with a bug: exit 1, kind, line, buffer and element.
race = h.write("race.cu", """//! kernelwright 1
//! task   race
//! input  x: fp32[256]
//! output y: fp32[256]
//! launch race grid(1) block(256) args(x, y)
__global__ void race(const float* x, float* y) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[255 - threadIdx.x];
}
""")
document = run_json(race, code=1)
kinds = {(f["kind"], f["at"]["line"]) for f in document["findings"]}
h.check(any(line == 9 or line == 8 for _, line in kinds) and any(kind in ("shared-race", "uninitialised-use") for kind, _ in kinds), "the race is found: %s" % kinds)
done = h.run("run", race, *VGPU)
h.check("tile[255 - threadIdx.x]" in done.stdout and "hint:" in done.stdout, "the report shows the source", done)
order = h.write("short.cu", """//! kernelwright 1
//! task   short
//! input  x: fp32[N]
//! output y: fp32[N]
//! launch copy grid(ceil_div(N, 64)) block(64) args(x, y, N)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = x[i];
}
""")
document = run_json(order, "--dim", "N=100", code=1)
found = {f["kind"]: f for f in document["findings"]}
h.check(found.get("out-of-bounds-global", {}).get("at", {}).get("line") == 8 and found["out-of-bounds-global"]["element"] == 100, "out of bounds at its line and element: %s" % found)

# Time limits, for the compile and for the run; a stopped run has no outputs.
deep = h.write("deep.cu", """//! kernelwright 1
//! task  deep
//! output y: int32[N]
//! launch deep grid(1) block(1) args(y)
template <int kDepth, int kPath>
struct Tree {
  static __device__ int value(int x) { return Tree<kDepth - 1, 2 * kPath>::value(x) ^ Tree<kDepth - 1, 2 * kPath + 1>::value(x + kPath); }
};
template <int kPath>
struct Tree<0, kPath> {
  static __device__ int value(int x) { return x * kPath; }
};
__global__ void deep(int* y) { y[0] = Tree<22, 1>::value(y[0]); }
""")
document = run_json(deep, "--dim", "N=2", "--timeout", "1", code=1)
h.check(document["compile"]["timed_out"] is True, "a compile is stopped in time")
spin = h.write("spin.cu", """//! kernelwright 1
//! task  spin
//! output y: fp32[N]
//! launch spin grid(N) block(1) args(y)
__global__ void spin(float* y) {
  float v = 0;
  for (long long i = 0; i < 1000000000000ll; ++i) v = v * 0.5f + static_cast<float>(i & blockIdx.x);
  y[blockIdx.x] = v;
}
""")
document = run_json(spin, "--dim", "N=40000", "--timeout", "1", "--output", "spun", code=3)
h.check(document["status"] == "hung" and document["findings"] == [] and "after 1 s (spin at line 7" in document["message"],
        "a run is stopped in time, which says nothing about the kernel: %s" % document["message"])
h.check(document["outputs"] == [] and document["files"] == [] and os.listdir(h.path("spun")) == [], "a stopped run has no outputs")

# check: groups, resources, all tunables.
document = json.loads(h.run("check", GOOD, "--compiler", compiler, "--json").stdout)
h.check(document["ok"] and len(document["groups"]) == 2 and all(g["example"] for g in document["groups"]), "both groups are reached")
h.check(all(v["launches"] and v["virtual_gpu"] == "" for v in document["variants"]), "launches are checked")
document = json.loads(h.run("check", GOOD, "--compiler", compiler, "--all-tunes", "--dim", "D=1024", "--dim", "B=8", "--json").stdout)
h.check(document["assignments"] == 9 and len(document["variants"]) == 9, "all tunables: %s" % document["assignments"])
h.expect("check as text", ["check", GOOD, "--compiler", compiler, "--tune", "VEC=2"], 0, r"domain.*D % VEC == 0.*rms_norm<128, 2>.*ok: 2 variants compile")


def on_terminal(*words, env=None):
    parent, child = pty.openpty()
    process = subprocess.Popen([h.binary, *words], stdout=child, stderr=child, stdin=subprocess.DEVNULL,
                               env=dict(h.environment, TERM="xterm", **(env or {})), cwd=h.folder)
    os.close(child)
    text = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    process.wait()
    os.close(parent)
    return text


h.check(b"\033[1;31m" in on_terminal("run", race, *VGPU), "colour on a terminal")
h.check(b"\033[1;31m" not in on_terminal("run", race, *VGPU, env={"NO_COLOR": "1"}), "NO_COLOR is respected")
h.finish()
