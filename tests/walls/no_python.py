"""With --no-python no command runs Python, and commands that read a folder run none unless told so.

The Python that would execute references is a trap: a program that leaves a mark when it is started."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import Harness, ROOT  # noqa: E402

h = Harness(sys.argv[1])
mark = h.path("mark")
trap = h.write("trap", "#!/bin/sh\ntouch '%s'\nexit 9\n" % mark)
os.chmod(trap, 0o755)
h.environment.update(KW_TORCH_PYTHON=trap, KERNELWRIGHT_RUNS=h.path("runs"), XDG_DATA_HOME=h.path("data"))
os.makedirs(h.path("folder/task"))
UNKNOWN = 'import torch\n\ndef reference(x: "fp32[B, D]"):\n    return torch.linalg.svdvals(x)\n'
READABLE = 'import torch\n\ndef reference(x: "fp32[N]"):\n    return x * 2\n'
MODULE = '''//! kernelwright 1
//! task reference
//! input x: fp32[N]
//! output out: fp32[N]
//! launch twice grid(ceil_div(N, 128)) block(128) args(x, out, N)
__global__ void twice(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
'''
CANDIDATE = ('import torch\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        open("%s", "w")\n        return x\n' % mark)
unknown, twice = h.write("unknown.py", UNKNOWN), h.write("twice.py", READABLE)
module, candidate = h.write("twice.cu", MODULE), h.write("candidate.py", CANDIDATE)
for name, text in (("folder/unknown.py", UNKNOWN), ("folder/twice.py", READABLE), ("folder/task/reference.py", UNKNOWN),
                   ("folder/task/task.toml", 'name = "task"\n[shapes]\nbenchmark = [{ B = 4, D = 4 }]\n')):
    h.write(name, text)


def sprung():
    there = os.path.exists(mark)
    if there:
        os.remove(mark)
    return there


GPU = ["--device", "vgpu"]
RUN = [*GPU, "--versus", "none", "--time", "5s", "--candidates", "1"]
for words in (["describe", unknown], ["lint", unknown], ["verify", module, "--reference", unknown, *GPU], ["bench", module, "--reference", unknown, *GPU],
              ["compare", module, module, "--reference", unknown], ["profile", module, "--reference", unknown, *GPU],
              ["roofline", module, "--reference", unknown, *GPU], ["import", module, "--reference", unknown],
              ["synthesize", "--reference", unknown, *RUN], ["evolve", unknown, *RUN[:-2], "--generations", "1"],
              ["optimize", "setup", module, "--reference", unknown, *GPU], ["eval", "--suite", h.path("folder"), "--only", "unknown", *RUN]):
    h.check(not sprung(), "before " + words[0])
    done = h.run(*words, "--no-python")
    h.check(done.returncode in (1, 2, 3) and not sprung(), "%s runs no Python" % words[0], done)
    h.check("--no-python was given" in done.stdout + done.stderr or words[0] in ("import", "eval", "compare"), "%s says why" % words[0], done)
    if words[0] in ("describe", "verify"):
        h.run(*words)
        h.check(sprung(), "%s without the option asks the Python" % words[0])
if h.run("doctor", "--has", "clang").returncode == 0 or h.run("doctor", "--has", "nvrtc").returncode == 0:
    done = h.run("verify", module, "--reference", twice, *GPU, "--no-python", "--family", "normal")
    h.check(done.returncode == 0 and "not cross-checked: --no-python was given" in done.stdout and not sprung(), "judged, not cross-checked", done)
done = h.run("verify", module, "--reference", twice, *GPU, "--no-python", "--cross-check", "always")
h.check(done.returncode != 0 and "--no-python was given" in done.stderr and not sprung(), "no cross-check by force", done)
done = h.run("verify", candidate, "--reference", twice, *GPU, "--no-python")
h.check(done.returncode != 0 and "--no-python was given" in done.stdout + done.stderr and not sprung(), "no Python candidate", done)

# Folders: only what the user did not have to look at.
for words in (["describe", h.path("folder/task")], ["lint", h.path("folder")], ["screen", h.path("folder")]):
    done = h.run(*words)
    h.check("--allow-python" in done.stdout + done.stderr and not sprung(), "%s of a folder runs nothing" % words[0], done)
    done = h.run(*words, "--allow-python", "--no-python")
    h.check("--no-python was given" in done.stdout + done.stderr and not sprung(), "%s: the stricter option counts" % words[0], done)
    h.run(*words, "--allow-python")
    h.check(sprung(), "%s --allow-python asks the Python" % words[0])
found = json.loads(h.run("screen", h.path("folder"), "--json").stdout)
scopes = {one["name"]: one for one in found["files"]}
h.check(scopes["twice"]["scope"] == "in_scope", "files that need no Python go on: %s" % found)
h.check("--allow-python" in scopes["unknown"]["reason"], "the others are named, with the way out: %s" % scopes["unknown"])
h.check(not sprung(), "screen --json runs nothing")
h.finish()
