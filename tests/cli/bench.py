"""bench, compare and calibrate where there is no GPU, and on a pretended one: estimates, refusals, queueing, Ctrl-C."""
import json
import os
import re
import signal
import subprocess
import sys
import time

from harness import Harness, ROOT
from processes import PATIENCE, at_work, gone, marked

h = Harness(sys.argv[1], own_cache=True)
compiler = h.compiler()
FAKE = sys.argv[2]
NO_GPU = {"KERNELWRIGHT_LIBCUDA": "/nowhere/libcuda.so.1"}
PRETENDED = {"KERNELWRIGHT_LIBCUDA": FAKE, "KERNELWRIGHT_RUNTIME_DIR": h.path("locks")}

REFERENCE = h.write("twice.py", 'import torch\n\n\ndef twice(x: "fp32[B, D]"):\n    return 2 * x + 1\n')
HEAD = """//! kernelwright 1
//! task  twice
//! input  x: fp32[B, D]
//! output y: fp32[B, D]
//! launch twice grid(ceil_div(B * D, 256)) block(256) args(x, y, B * D)
"""
GOOD = h.write("good.cu", HEAD + """__global__ void twice(const float* x, float* y, long long n) {
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
""")
WRONG = h.write("wrong.cu", HEAD + """__global__ void twice(const float* x, float* y, long long n) {
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
""")
COMMON = ["--reference", REFERENCE, "--dims", '{"B": 512, "D": 256}', "--compiler", compiler]


def without_gpu():
    done = h.run("bench", GOOD, *COMMON, "--quick", env=NO_GPU)
    h.check(done.returncode == 3, "without a GPU nothing is timed: exit 3", done)
    h.check("The module was not timed" in done.stdout and "ESTIMATE" in done.stdout, "the estimate is called one", done)
    done = h.run("bench", GOOD, *COMMON, "--quick", "--json", env=NO_GPU)
    report = json.loads(done.stdout)
    h.check(report["estimate"]["is_measurement"] is False and report["estimate"]["us"] > 0, "an estimate in JSON", done)
    h.check("timing" not in report["candidate"], "no timing in JSON", done)
    h.check(report["verdict"]["verdict"] == "passed", "the gate's verdict stands beside it", done)
    done = h.run("bench", WRONG, *COMMON, env=NO_GPU)
    h.check(done.returncode == 1 and "WRONG" in done.stdout and "ESTIMATE" not in done.stdout,
            "what is wrong gets no estimate", done)
    for words in (["compare", GOOD, GOOD, "--dim", "B=4", "--dim", "D=4"], ["calibrate"]):
        h.expect(words[0] + " needs a GPU", words, 3, r"GPU|CUDA driver", env=NO_GPU)


def bad_input():
    for name, words, pattern in (
            ("no reference", ["bench", GOOD], r"--reference"),
            ("no module", ["bench"], r"MODULE"),
            ("no such module", ["bench", "absent.cu", *COMMON], r"absent\.cu"),
            ("no such reference", ["bench", GOOD, "--reference", "absent.py"], r"absent\.py"),
            ("no such mode", ["bench", GOOD, *COMMON, "--versus", "eagre"], r"did you mean 'eager'"),
            ("no such rival", ["bench", GOOD, *COMMON, "--versus", "absent.cu"], r"absent\.cu"),
            ("an empty rival", ["bench", GOOD, *COMMON, "--versus", "eager,,"], r"--versus"),
            ("no such device", ["bench", GOOD, *COMMON, "--device", "tpu"], r"tpu"),
            ("one module", ["compare", GOOD], r"two modules"),
            ("three modules", ["compare", GOOD, GOOD, GOOD], r"two modules"),
            ("an unknown dim", ["bench", GOOD, "--reference", REFERENCE, "--dim", "Q=4"], r"Q"),
            ("calibrate takes nothing", ["calibrate", GOOD], r"not expected")):
        h.expect(name, words, 2, pattern, env=NO_GPU)


def start(*words, mark):
    return subprocess.Popen([h.binary, *words], env=dict(h.environment, **PRETENDED, **{mark: "1"}), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def holder(process):
    """The process id in the lock file, once a process has written it."""
    while process.poll() is None:
        for name in os.listdir(h.path("locks")) if os.path.isdir(h.path("locks")) else []:
            with open(os.path.join(h.path("locks"), name)) as file:
                text = file.read().strip()
            if text:
                return int(text)
        time.sleep(0.02)
    return 0


def pretended():
    """One is at work and is stopped, the second waits for it, the third comes when the GPU is free."""
    mark = "KW_BENCH_TEST_%d_" % os.getpid()
    first = start("calibrate", mark=mark + "first")
    owner = holder(first)
    h.check(owner == first.pid, "the lock names its holder: %s" % owner)
    second = start("calibrate", mark=mark + "second")
    waiting = second.stderr.readline()
    h.check(re.search(r"waiting for GPU-.* used by process %d" % first.pid, waiting) is not None,
            "the second waits and says for whom: %s" % waiting)
    h.check(at_work(mark + "first") and first.poll() is None, "the first is calibrating")
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=PATIENCE)
    h.check(first.returncode == 130, "Ctrl-C: exit 130, not %s: %s %s" % (first.returncode, out, err))
    h.check(gone(mark + "first"), "no worker is left on the GPU: %s" % marked(mark + "first"))
    out, err = second.communicate(timeout=PATIENCE)
    h.check(second.returncode == 0, "the second has its turn: %s %s" % (second.returncode, err))
    h.check(re.search(r"memory +read .* GB/s.*launch .*timer", out, re.S) is not None, "as text: %s" % out)
    h.check(gone(mark), "nor by the second: %s" % marked(mark))
    done = h.run("calibrate", "--json", env=PRETENDED)
    h.check(done.returncode == 0 and "waiting" not in done.stderr, "the GPU is free again", done)
    report = json.loads(done.stdout)
    h.check(report["read_gbps"] > 0 and report["peaks"] and os.path.exists(report["path"]), "a calibration is kept")


bad_input()
without_gpu()
pretended()
h.finish()
