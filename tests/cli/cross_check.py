"""verify --cross-check through the real binary: no PyTorch, PyTorch that agrees, that reads it otherwise, that raises, and
references only PyTorch can read."""
import json
import os
import re
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1], own_cache=True)
compiler = h.compiler()
MODULE = os.path.join(ROOT, "examples", "rms_norm.cu")
REFERENCE = os.path.join(ROOT, "examples", "rms_norm.py")
VGPU = ["--device", "vgpu", "--compiler", compiler]
NO_TORCH = {"KW_TORCH_PYTHON": "/nowhere/python"}
ONE_SHAPE = ["--dims", '{"B": 2, "D": 200}']  # the gate itself has its own tests


def verify(reference=REFERENCE, *more, module=MODULE):
    return ["verify", module, "--reference", reference, *VGPU, *ONE_SHAPE, "--family", "normal", *more]


# Without PyTorch: said, never silent; demanded: an error of the environment.
h.expect("no torch", verify(), 0, r"PASSED.*cross-check +not cross-checked: no PyTorch here", env=NO_TORCH)
report = json.loads(h.run(*verify(REFERENCE, "--json"), env=NO_TORCH).stdout)
h.check(report["cross_check"]["state"] == "not checked", "no torch in JSON: %s" % report["cross_check"])
h.expect("demanded", verify(REFERENCE, "--cross-check", "always"), 3, r"--cross-check always: no Python here can import torch", env=NO_TORCH)
h.expect("never", verify(REFERENCE, "--cross-check", "never"), 0, r"not cross-checked: --cross-check never")
h.expect("word", verify(REFERENCE, "--cross-check", "maybe"), 2, r"'maybe' is not one of auto, always, never")
TRY = """import torch
def rms_norm(x: "fp16[B, D]", eps: float = 1e-5):
    try:
        wide = x.float()
    finally:
        pass
    return (wide * torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)).to(x.dtype)
"""
tried = h.write("tried.py", TRY)
h.expect("refused without torch", verify(tried), 2, r"'try' is not supported.*install torch", env=NO_TORCH)

if h.run(*verify(REFERENCE, "--cross-check", "always")).returncode == 3:
    print("the rest needs a Python with torch: none here")
    h.finish()
    sys.exit(0)

# PyTorch agrees; the second time that is remembered.
report = json.loads(h.run(*verify(REFERENCE, "--json")).stdout)
h.check(report["cross_check"]["state"] == "remembered", "remembered: %s" % report["cross_check"])
h.expect("shown", verify(), 0, r"cross-check +PyTorch \S+ reads the reference as kernelwright does \(remembered\)")
h.expect("anew", verify(REFERENCE, "--cross-check", "always"), 0, r"reads the reference as kernelwright does, at")

# Read differently: ours is of a GPU, PyTorch's of this machine.
if not json.loads(h.run("doctor", "--json").stdout).get("gpu"):
    parted = h.write("parted.py", "import torch\ndef f(x: 'fp16[B, D]', eps: float = 1e-5):\n    if x.is_cuda:\n        return torch.sin(x)\n    return torch.cos(x)\n")
    h.expect("parted", verify(parted), 2, r"parted\.py: PyTorch and kernelwright read this reference differently")

# A byte order mark is legal in Python. A file that is not Python is one line, without a traceback.
with open(REFERENCE, encoding="utf-8") as file:
    marked = h.write("marked.py", "\ufeff" + file.read())
h.expect("a byte order mark", verify(marked, "--cross-check", "always"), 0, r"reads the reference as kernelwright does")
h.write("broken_part.py", "def part(x):\n    return (x\n")
parts = h.write("parts.py", "import torch\nimport broken_part\ndef f(x: 'fp16[B, D]', eps: float = 1e-5):\n    return broken_part.part(x)\n")
done = h.run(*verify(parts, "--cross-check", "always"))
h.check(done.returncode in (2, 3) and "broken_part.py:2: SyntaxError: '(' was never closed" in done.stderr and "Traceback" not in done.stderr,
        "a part that is not Python", done)
os.mkdir(h.path("vast"))
h.write("vast/reference.py", "def reference(x):\n    return x * 2\n")
h.write("vast/task.toml", 'name = "t"\n[inputs]\nx = "fp32[N]"\n[shapes]\nbenchmark = [{N = 2000000000}]\n'
        "[dims]\nN = {min = 2000000000, max = 3000000000}\n")
TWICE = h.write("twice.cu", """//! kernelwright 1
//! task   t
//! input  x: fp32[N]
//! output y: fp32[N]
//! launch twice grid(ceil_div(N, 256)) block(256) args(x, y, N)
__global__ void twice(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
""")
h.expect("too large", ["verify", TWICE, "--reference", "vast", *VGPU], 2,
         r"every shape of the task is too large for the cross-check here: the smallest is N=2000000000 \(7\.5 GiB of inputs\)")

# Raises, hangs, needs too much memory.
raises = h.write("raises.py", "import torch\ndef f(x: 'fp16[B, D]', eps: float = 1e-5):\n    torch.manual_seed('no')\n    return x * 2\n")
done = h.run(*verify(raises))
h.check(done.returncode == 2 and "at its own inputs" in done.stderr, "a reference that raises is refused", done)

wants = h.write("wants.py", "import torch\ndef f(x: 'fp32[B, D]'):\n    return x * 2 + torch.zeros(50_000_000_000)[3]\n")
done = h.run("synthesize", "--reference", wants, *VGPU, "--candidates", "1", "--proposer", "builtin", *ONE_SHAPE, "--out", h.path("runs"))
h.check(done.returncode == 0 and "not cross-checked" in done.stdout and "ran out of memory" in done.stdout, "one that needs too much memory: a kernel, and a warning", done)

# Only PyTorch can read it: judged all the same. Every shape is another export, so one will do, and one process for both modules.
wrong = h.write("wrong.cu", open(MODULE).read().replace("/ D + eps", "/ D + 1000 * eps"))
done = h.run("verify", MODULE, wrong, *verify(tried)[2:])
right, _, bad = done.stdout.partition("\nwrong.cu against")
h.check(re.search(r"PASSED.*read by torch\.export.*cross-check +PyTorch \S+ reads", right, re.S) is not None, "exported", done)
h.check(done.returncode == 1 and "WRONG" in bad, "an exported reference finds the wrong one", done)
both = h.write("both.py", "import torch\ndef f(x: 'fp16[B, D]'):\n    try:\n        return x if x.sum() > 0 else -x\n    finally:\n        pass\n")
h.expect("neither reads it", verify(both), 2, r"'try' is not supported.*torch\.export does not read it either")
h.finish()
