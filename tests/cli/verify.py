"""verify through the real binary: verdicts, exit codes, lines that show it again, bad input."""
import json
import os
import shlex
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
compiler = h.compiler()
MODULE = os.path.join(ROOT, "examples", "rms_norm.cu")
REFERENCE = os.path.join(ROOT, "examples", "rms_norm.py")
VGPU = ["--device", "vgpu", "--compiler", compiler]
NEVER = ["--cross-check", "never"]  # at other shapes PyTorch would be asked once more, which is cross_check.py's to test


def verify(module=MODULE, reference=REFERENCE, *more):
    return ["verify", module, "--reference", reference, *VGPU, *more]


with open(MODULE) as file:
    honest = file.read()

# An honest module.
done = h.expect("honest", verify(), 0, r"PASSED\n.*cells.*worst element.*deterministic +yes.*seeds +fresh.*preparation .* s, gate .* s")
h.check("\033" not in done.stdout, "no colour in a pipe", done)
done = h.expect("explained", verify(MODULE, REFERENCE, "--explain", "--family", "normal"), 0, r"what each stage did.*static.*compile.*vgpu.*numerics.*hygiene.*metamorphic.*cells\n")
report = json.loads(h.run(*verify(MODULE, REFERENCE, "--json")).stdout)
h.check(report["verdict"] == "passed" and report["ok"] and report["exit_code"] == 0, "verdict in JSON: %s" % report["verdict"])
h.check(all(cell["cell"]["seed"] is None for cell in report["cell_list"]), "secret seeds are not shown")
h.check(report["constants"]["max_z"] == 1, "constants are shown")
h.check(not report["replay_seeded"], "fresh seeds")

# A seed makes it repeatable, and says so.
words = verify(MODULE, REFERENCE, "--seed", "5", "--family", "spikes", "--json")
first, second = json.loads(h.run(*words).stdout), json.loads(h.run(*words).stdout)
h.check(first["replay_seeded"] and first["error"] == second["error"], "the same seed gives the same numbers")
h.expect("replay-seeded", verify(MODULE, REFERENCE, "--seed", "5", "--family", "offset", "--dims", '{"B": 3, "D": 100}', *NEVER), 0,
         r"replay-seeded by --seed: not certified")

# A wrong module, and the line that shows it again.
wrong = h.write("wrong.cu", honest.replace("/ D + eps", "/ D + 10 * eps"))
done = h.run(*verify(wrong, REFERENCE, "--json"))
h.check(done.returncode == 1, "a wrong module exits with 1", done)
report = json.loads(done.stdout)
h.check(report["verdict"] == "wrong" and report["stage"] == "numerics", "wrong at numerics", done)
h.check(report["error"]["worst"]["output"] != "" and report["error"]["worst"]["z"] > 1, "the worst element is named", done)
again = shlex.split(report["repro"])
h.check(again[:2] == ["kernelwright", "verify"], "a line that shows it again: %s" % report["repro"])
done = h.run(*again[1:], "--compiler", compiler, *NEVER)
h.check(done.returncode == 1 and "WRONG" in done.stdout, "the line shows it again", done)

# Stages.
racy = h.write("racy.cu", honest.replace("  __syncthreads();\n", ""))
h.check("REJECTED at stage vgpu" in h.run(*verify(racy)).stdout, "a race is rejected on the virtual GPU")
broken = h.write("broken.cu", honest.replace("float sum = 0.0f;", "float sum = ;"))
done = h.run(*verify(broken))
h.check(done.returncode == 1 and "REJECTED at stage compile" in done.stdout and "float sum = ;" in done.stdout, "a syntax error is shown in its source", done)
plain = h.write("plain.cu", "__global__ void k() {}\n")
done = h.run(*verify(plain))
h.check(done.returncode == 1 and "REJECTED at stage static" in done.stdout, "no module is a rejected candidate", done)

# Does the task tell imposters apart?
done = h.expect("kill rate", verify(MODULE, REFERENCE, "--kill-rate"), 0, r"imposters: (\d+) of \1 that apply are stopped.*one-pass-variance.*does not apply")

# What the user typed.
h.expect("no reference", ["verify", MODULE, *VGPU], 2, r"--reference REF")
h.expect("missing module", verify("nothing.cu"), 2, r"nothing\.cu")
h.expect("missing reference", verify(MODULE, "nothing.py"), 2, r"nothing\.py")
h.expect("family", verify(MODULE, REFERENCE, "--family", "spike"), 2, r"did you mean 'spikes'")
h.expect("dim", verify(MODULE, REFERENCE, "--dim", "C=3"), 2, r"'C'")
h.expect("tunable", verify(MODULE, REFERENCE, "--tune", "THREDS=128"), 2, r"--tune: the module has no tunable 'THREDS' \(did you mean 'THREADS'")
h.expect("value of a tunable", verify(MODULE, REFERENCE, "--tune", "THREADS=7"), 2, r"--tune: tunable THREADS = 7 is not among")
h.expect("seed", verify(MODULE, REFERENCE, "--seed", "x"), 2, r"--seed")
h.expect("device", ["verify", MODULE, "--reference", REFERENCE, "--device", "tpu"], 2, r"tpu")
for name, text in {
    "syntax": "def f(x:\n",
    "raises": "import torch\ndef f(x: 'fp32[N]'):\n    raise ValueError('no')\n",
    "string": "import torch\ndef f(x: 'fp32[N]'):\n    return 'y'\n",
    "nothing": "import torch\ndef f(x: 'fp32[N]'):\n    pass\n",
    "import": "import no_such_module_anywhere\ndef f(x: 'fp32[N]'):\n    return no_such_module_anywhere.f(x)\n",
    "empty": "",
    "binary": b"\x00\x01\x02",
}.items():
    done = h.run(*verify(MODULE, h.write(name + ".py", text)))
    h.check(done.returncode == 2 and done.stderr.startswith("kernelwright: "), "reference '%s' is refused" % name, done)
# Launch groups: what cannot run limits the verdict; what can never run does not.
ROW_SUM = """//! kernelwright 1
//! task row_sum
//! input x: fp32[B, D]
//! output y: fp32[B]
%s
__global__ void row_sum(const float* x, float* y, long long B, int D) {
  const long long row = blockIdx.x * 64LL + threadIdx.x;
  if (row >= B) return;
  float sum = 0.0f;
  for (int i = 0; i < D; ++i) sum += x[row * D + i];
  y[row] = sum;
}
"""
LAUNCH = "//! launch row_sum grid(ceil_div(B, 64)) block(64) args(x, y, B, D)"


def row_sum(name, *lines):
    with open(h.path(name + ".cu"), "w") as file:
        file.write(ROW_SUM % "\n".join(lines))
    return verify(h.path(name + ".cu"), h.path("row_sum.py"), *NEVER)


with open(h.path("row_sum.py"), "w") as file:
    file.write("def row_sum(x: 'fp32[B, D]'):\n    return x.sum(dim=-1)\n")
words = row_sum("large", "//! tune VEC in 1, 2", "//! when VEC == 2", LAUNCH, "//! when B * D <= 2000000000", LAUNCH, "//! when true", LAUNCH)
h.expect("a group for many elements", words, 0, r"PASSED below 2,000,\d+,\d+ elements\n.*incomplete +line 10: .*'when true'")
report = json.loads(h.run(*words, "--json").stdout)
h.check([group["state"] for group in report["launch_groups"]] == ["unreachable", "run", "unaffordable"], "three states: %s" % report["launch_groups"])
h.check(not report["complete"] and not report["certified"] and report["complete_below"] > 2e9, "not complete, never certified")
for name, words, said in (
    ("a domain that excludes everything", row_sum("nowhere", "//! when B < 0", LAUNCH), "shape outside the module's domain"),
    ("a circle in a guard", row_sum("circle", "//! let A = C + 1", "//! let C = A", "//! when A > 3", LAUNCH), "needs its own value"),
):
    done = h.run(*words)
    h.check(done.returncode == 1 and "REJECTED at stage static" in done.stdout and said in done.stdout, name, done)
h.finish()
