"""Ctrl-C ends a run and a compile at once, with code 130 and no process left behind."""
import os
import resource
import signal
import subprocess
import sys
import time

from harness import Harness
from processes import PATIENCE, at_work, gone, marked, used

h = Harness(sys.argv[1], own_cache=True)
compiler = h.compiler()
MARK = "KW_INTERRUPT_TEST_%d" % os.getpid()

LONG_RUN = """//! kernelwright 1
//! task  spin
//! output y: fp32[N]
//! launch spin grid(N) block(1) args(y)
__global__ void spin(float* y) {
  float v = 0;
  for (long long i = 0; i < 1000000000000ll; ++i) v = v * 0.5f + static_cast<float>(i & blockIdx.x);
  y[blockIdx.x] = v;
}
"""
LONG_COMPILE = """//! kernelwright 1
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
"""


counted = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # seconds of work of what has ended
for name, text in (("run", LONG_RUN), ("compile", LONG_COMPILE)):
    module = h.write(name + ".cu", text)
    process = subprocess.Popen([h.binary, "run", module, "--dim", "N=2", "--device", "vgpu", "--compiler", compiler, "--timeout", "3600"],
                               env=dict(h.environment, **{MARK: "1"}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started = at_work(MARK, seconds=0.5)
    h.check(process.poll() is None and started, "%s is at work" % name)
    before = sum(used(pid) for pid in started)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    h.check(process.returncode == 130, "%s: exit 130, not %s: %s %s" % (name, process.returncode, out, err))
    h.check(gone(MARK), "%s leaves no process behind: %s" % (name, marked(MARK)))
    spent = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - counted - before
    counted += spent + before
    h.check(spent < 10, "%s ends soon, not after %.1f s of work" % (name, spent))
    left = [entry for root, _, files in os.walk(h.folder) for entry in files if ".tmp" in entry]
    h.check(not left, "%s leaves no temporary file: %s" % (name, left))

# A compile worker that is killed gets a successor; if that is killed too, the machine is to blame, not the module.
if compiler == "nvrtc":
    process = subprocess.Popen([h.binary, "run", h.path("compile.cu"), "--dim", "N=2", "--device", "vgpu", "--compiler", compiler],
                               env=dict(h.environment, **{MARK: "1"}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    killed, end = set(), time.time() + PATIENCE
    while process.poll() is None and time.time() < end:
        for pid in set(marked(MARK)) - killed - {process.pid}:
            if used(pid) >= 0.3:  # it is at work
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.02)
    out, err = process.communicate(timeout=PATIENCE)
    h.check(len(killed) == 2 and process.returncode == 3 and "SIGKILL" in out + err,
            "%d killed workers: exit %s: %s %s" % (len(killed), process.returncode, out, err))
    h.check(gone(MARK), "the killed worker leaves nothing behind: %s" % marked(MARK))
h.finish()
