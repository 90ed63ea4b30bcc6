"""Short jobs of the real program, each with what a fault must not change: how it ends, what it judged, how it is continued."""
import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "llm"))
from server import ModelServer  # noqa: E402

REFERENCE = '''import torch

def scale(x: "fp32[N]"):
    return x * 2.0 + 1.0
'''
TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(64, %d)]


def get_init_inputs():
    return []
'''
RIGHT = """//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    THREADS in 256, 128
//! launch  scale<THREADS> grid(ceil_div(N, THREADS)) block(THREADS) args(x, y, N)
template <int kThreads>
__global__ void scale(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f + 1.0f;
}
"""
KEY = "sk-planted-9e3779b97f4a"


class Job:
    """`begin` are the words of a new job in `folder`; `go_on` those that continue it, or None where there is nothing to continue."""

    def __init__(self, name, begin, expected=0, go_on=None, slow=False):
        self.name, self.begin, self.expected, self.go_on, self.slow = name, begin, expected, go_on, slow


class Jobs:
    def __init__(self, h):
        self.h = h
        self.reference = h.write("scale.py", REFERENCE)
        self.right = h.write("right.cu", RIGHT)
        self.wrong = h.write("wrong.cu", RIGHT.replace("+ 1.0f", "+ 1.5f"))
        os.makedirs(h.path("suite/level1"))
        for number in (1, 2):
            h.write("suite/level1/%d_Relu.py" % number, TASK % (31 + number))
        common = ["--compiler", h.compiler(), "--cross-check", "never", "--device", "vgpu"]
        small = ["--reference", self.reference, "--dim", "N=1003", *common]
        self.server = ModelServer(respond=lambda conversation, state: {"text": "```cuda\n%s```\n" % RIGHT}, key=KEY)
        self.server.__enter__()
        h.environment.update(KERNELWRIGHT_PROVIDERS=h.write("providers.toml", self.server.providers_toml()), KW_TEST_KEY=KEY)
        quick = ["--timeout", "5", "--seed", "5", "--versus", "none"]

        def resumed(folder):
            found = glob.glob(os.path.join(folder, "*", "run.json"))
            return ["resume", os.path.dirname(found[0]), "--timeout", "60"] if found else None

        def optimised(folder):
            found = glob.glob(os.path.join(folder, "*", "state.json"))
            return ["optimize", "--run-dir", os.path.dirname(found[0])] if found else None

        self.all = [
            Job("verify", lambda out: ["verify", self.right, *small, "--timeout", "5"]),
            Job("verify-wrong", lambda out: ["verify", self.wrong, *small, "--timeout", "5"], expected=1),
            Job("synthesize", lambda out: ["synthesize", *small, *quick, "--candidates", "2", "--out", out], go_on=resumed),
            Job("models", lambda out: ["synthesize", *small, *quick, "--candidates", "1", "--goal", "1000", "--out", out, "--retries",
                                       "performance=0", "--retries", "polish=0", "--proposer", "llm"], go_on=resumed),
            Job("evolve", lambda out: ["evolve", self.reference, "--dim", "N=1003", *common, *quick, "--target", "sm_90", "--out", out,
                                       "--budget-seconds", "1", "--generations", "1", "--proposals", "2", "--hardware", "1",
                                       "--proposer", "builtin"], go_on=resumed),
            Job("eval", lambda out: ["eval", "--suite", h.path("suite"), *common, "--versus", "none", "--candidates", "1", "--timeout", "5",
                                     "--out", os.path.join(out, "eval")],
                go_on=lambda out: ["eval", "--suite", h.path("suite"), *common, "--versus", "none", "--candidates", "1", "--timeout", "60",
                                   "--out", os.path.join(out, "eval"), "--resume"], slow=True),
            Job("optimize", lambda out: ["optimize", self.right, *small, "--timeout", "5", "--iterations", "1", "--branches", "1", "--out", out],
                go_on=optimised, slow=True),
        ]

    def close(self):
        self.server.__exit__(None, None, None)


def verdicts(folder):
    """What became of every candidate below a folder, as its verdict and as the event tells it. Torn files are left out."""
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "verdict.json"), recursive=True):
        try:
            with open(path) as file:
                found[path] = json.load(file)["verdict"]
        except ValueError:
            found[path] = "torn"
    return found


def judged(folder):
    """The verdicts that the journals below a folder name."""
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "events.jsonl"), recursive=True):
        with open(path, "rb") as file:
            for line in file.read().split(b"\n"):
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if event["kind"] == "judged":
                    found[(os.path.dirname(path), event["data"]["id"])] = event["data"]["verdict"]
    return found
