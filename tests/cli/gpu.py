"""The command line on a real GPU: the same results as on the virtual GPU, times, faults that do no harm."""
import json
import os
import struct
import sys

from harness import Harness, ROOT, skip

h = Harness(sys.argv[1], own_cache=True)
if h.run("doctor", "--has", "gpu").returncode != 0:
    skip("no GPU")
if h.run("doctor", "--has", "nvrtc").returncode != 0 and h.run("doctor", "--has", "nvcc").returncode != 0:
    skip("no compiler that makes cubins (NVRTC or nvcc)")
GOOD = os.path.join(ROOT, "examples", "rms_norm.cu")
DIMS = ["--dim", "B=256", "--dim", "D=1024"]


def run(*words, code=0):
    done = h.run("run", *words, "--json")
    h.check(done.returncode == code, "exit %d of %s" % (code, words), done)
    return json.loads(done.stdout)


def halves(path):
    with open(h.path(path), "rb") as file:
        data = file.read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return struct.unpack("<%de" % (len(data) // 2), data)


real = run(GOOD, *DIMS, "--device", "gpu", "--output", "real")
auto = run(GOOD, *DIMS)
virtual = run(GOOD, *DIMS, "--device", "vgpu", "--target", real["device"]["target"], "--output", "virtual")
h.check(auto["device"]["virtual"] is False, "auto takes the GPU")
h.check(real["outputs"][0]["hash"] == auto["outputs"][0]["hash"], "two runs give the same bits")
worst = max(abs(a - b) / max(abs(b), 2.0 ** -14) for a, b in zip(halves("real/y.npy"), halves("virtual/y.npy")))
h.check(worst <= 2.0 ** -10, "GPU and virtual GPU agree within one rounding: %g" % worst)

timed = run(GOOD, *DIMS, "--device", "gpu", "--time")
h.check(timed["timing"] is not None and "timing_problem" not in timed, "timed: %s" % timed.get("timing_problem"))
h.expect("times as text", ["run", GOOD, *DIMS, "--device", "gpu", "--time"], 0, r"µs.*median of")
h.expect("counters are the virtual GPU's", ["run", GOOD, *DIMS, "--device", "gpu", "--counters"], 2, r"--device vgpu")

fault = h.write("fault.cu", """//! kernelwright 1
//! task   fault
//! output y: fp32[N]
//! launch fault grid(1) block(32) args(y)
__global__ void fault(float* y) { *reinterpret_cast<float*>(16) = y[0]; }
""")
h.check(run(fault, "--dim", "N=32", "--device", "gpu", code=1)["status"] == "faulted", "a fault is the candidate's")
spin = h.write("spin.cu", """//! kernelwright 1
//! task   spin
//! output y: int32[N]
//! launch spin grid(1) block(1) args(y)
__global__ void spin(volatile int* y) { while (y[0] != 12345) {} }
""")
h.check(run(spin, "--dim", "N=1", "--device", "gpu", "--timeout", "3", code=1)["status"] == "hung", "a hang is stopped")
h.check(run(GOOD, *DIMS, "--device", "gpu")["outputs"][0]["hash"] == real["outputs"][0]["hash"], "the GPU is well afterwards")
h.expect("more than the GPU has", ["run", GOOD, "--dim", "B=1073741824", "--dim", "D=4096", "--device", "gpu"], 3, r"memory|need")

environment = json.loads(h.run("doctor", "--json").stdout)
h.check(environment["gpu"]["sms"] > 0 and environment["tools"]["gpu"]["state"] == "found", "doctor sees the GPU")
counters = environment["tools"]["ncu-counters"]
h.check(counters["state"] == "found" or counters["note"] != "", "doctor knows whether counters can be read: %s" % counters)
h.finish()
