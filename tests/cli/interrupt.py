"""Ctrl-C ends a run and a compile at once, with code 130 and no process left behind."""
import os
import signal
import subprocess
import sys
import time

from harness import Harness

h = Harness(sys.argv[1])
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


def marked():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if MARK.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


for name, text, wait in (("run", LONG_RUN, 2.5), ("compile", LONG_COMPILE, 2.5)):
    module = h.write(name + ".cu", text)
    process = subprocess.Popen([h.binary, "run", module, "--dim", "N=20000", "--device", "vgpu", "--compiler", compiler, "--timeout", "300"],
                               env=dict(h.environment, **{MARK: "1"}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(wait)
    h.check(process.poll() is None, "%s is still busy after %s s" % (name, wait))
    process.send_signal(signal.SIGINT)
    started = time.time()
    try:
        out, err = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    h.check(process.returncode == 130, "%s: exit 130, not %s: %s %s" % (name, process.returncode, out, err))
    h.check(time.time() - started < 20, "%s ends soon" % name)
    for _ in range(50):
        if not marked():
            break
        time.sleep(0.1)
    h.check(not marked(), "%s leaves no process behind: %s" % (name, marked()))
    left = [entry for root, _, files in os.walk(h.folder) for entry in files if ".tmp" in entry]
    h.check(not left, "%s leaves no temporary file: %s" % (name, left))

# A compile worker that is killed gets a successor; if that is killed too, it costs its compile, not the program.
if compiler == "nvrtc":
    process = subprocess.Popen([h.binary, "run", h.path("compile.cu"), "--dim", "N=2", "--device", "vgpu", "--compiler", compiler],
                               env=dict(h.environment, **{MARK: "1"}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    killed = set()
    for _ in range(300):
        if process.poll() is not None:
            break
        time.sleep(0.1)
        for pid in set(marked()) - killed - {process.pid}:
            time.sleep(0.7)  # until it is at work
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
    out, err = process.communicate(timeout=60)
    h.check(len(killed) == 2 and process.returncode == 1 and "SIGKILL" in out,
            "%d killed workers: exit %s: %s %s" % (len(killed), process.returncode, out, err))
    h.check(not marked(), "the killed worker leaves nothing behind: %s" % marked())
h.finish()
