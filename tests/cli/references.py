"""FILE.py:NAME and --mode eval in every command that takes a reference, as its own help lists them."""
import json
import sys

from harness import Harness

h = Harness(sys.argv[1])
compiler = h.compiler()
# In training this drops elements, so no kernel could match it; in eval mode it doubles them.
h.write("several.py", """import torch
from torch import nn


def other(x: "fp32[N]"):
    return x + 1


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: "fp32[N]"):
        return self.drop(x) * 2
""")
MODULE = h.write("twice.cu", """//! kernelwright 1
//! task   twice
//! input  x: fp32[N]
//! output y: fp32[N]
//! launch twice grid(ceil_div(N, 256)) block(256) args(x, y, N)
__global__ void twice(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
""")
HOST = h.write("host.cu", """__global__ void twice(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void launch(const float* x, float* y, int N) { twice<<<(N + 255) / 256, 256>>>(x, y, N); }
""")
VGPU = ["--device", "vgpu", "--compiler", compiler]
SMALL = ["--dims", '{"N": 256}']
SEARCH = [*VGPU, *SMALL, "--cross-check", "never", "--candidates", "1", "--versus", "none", "--proposer", "builtin", "--out", h.folder]
# For every command with a reference: how it is called with one, at the least work; None: it takes a folder of them, or a run that has one.
CALLS = {
    "synthesize": lambda ref: ["--reference", ref, *SEARCH],
    "evolve": lambda ref: [ref, *VGPU, *SMALL, "--cross-check", "never", "--versus", "none", "--generations", "1", "--proposals", "1",
                           "--hardware", "1", "--out", h.folder],
    "import": lambda ref: [HOST, "--reference", ref],
    "verify": lambda ref: [MODULE, "--reference", ref, *VGPU, *SMALL, "--cross-check", "never", "--family", "normal"],
    "describe": lambda ref: [ref],
    "lint": lambda ref: [ref, "--seeds", "2"],
    "bench": lambda ref: [MODULE, "--reference", ref, *VGPU, *SMALL, "--cross-check", "never"],
    "compare": lambda ref: [MODULE, MODULE, "--reference", ref, *SMALL, "--device", "vgpu", "--compiler", compiler],
    "optimize": lambda ref: [MODULE, "--reference", ref, *VGPU, *SMALL, "--cross-check", "never", "--proposer", "agent", "--out", h.folder],
    "profile": lambda ref: [MODULE, "--reference", ref, *VGPU, *SMALL],
    "roofline": lambda ref: [MODULE, "--reference", ref, *VGPU, *SMALL],
    "resume": None, "tune": None, "eval": None, "screen": None,
}
commands = json.loads(h.run("help", "--json").stdout)["commands"]
takers = {one["name"]: {option["name"] for option in one["options"]} for one in commands}
takers = {name: options for name, options in takers.items() if options & {"--reference", "--function", "--mode"} and name != "sass"}
h.check(sorted(takers) == sorted(CALLS), "commands that take a reference, without a call here or no longer there: %s" % sorted(set(takers) ^ set(CALLS)))
for name, call in CALLS.items():
    if name not in ("resume", "tune"):
        h.check("--mode" in takers.get(name, ()), "%s takes --mode" % name)
    if call is None:
        continue
    h.check("--function" in takers.get(name, ()), "%s takes --function" % name)
    # A name that is not there is refused with those that are: the part after the colon is read as a name.
    done = h.run(name, *call("several.py:nothing"))
    h.check(done.returncode in (1, 2) and "several.py has no function 'nothing'" in done.stdout + done.stderr, name + ": FILE.py:NAME, unknown", done)
    done = h.run(name, *call("several.py:Doubled"), "--mode", "eval")
    untimed = name in ("bench", "compare") and done.returncode == 3 and "\nPASSED" in done.stdout  # without a GPU
    h.check(done.returncode == 0 or untimed, name + ": FILE.py:NAME in eval mode", done)
h.expect("in training", ["describe", "several.py:Doubled"], 2, r"[Dd]ropout")
h.finish()
