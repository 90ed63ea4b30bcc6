"""A suite evaluated from outside: rows, resume, regressions, kill -9, bad input; and files screened."""
import csv
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from harness import Harness

h = Harness(sys.argv[1])
compiler = h.compiler()
COMMON = ["--device", "vgpu", "--compiler", compiler, "--versus", "none", "--cross-check", "never", "--candidates", "1"]

RELU = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


batch = 64
dim = %d


def get_inputs():
    return [torch.randn(batch, dim)]


def get_init_inputs():
    return []
"""

os.makedirs(h.path("suite/level1"))
h.write("suite/level1/2_Relu.py", RELU % 96)
h.write("suite/level1/10_Relu.py", RELU % 33)
h.write("suite/level1/30_Broken.py", "def reference(x: 'fp32[N]'):\n    return x +\n")
h.write("suite/level1/_helper.py", "x = 1\n")


def rows(folder):
    with open(h.path(folder + "/results.csv"), newline="") as file:
        return list(csv.DictReader(file))


def evaluate(folder, *words, suite="suite", env=None):
    return h.run("eval", "--suite", suite, "--out", folder, *COMMON, *words, env=env)


# One broken task is a failed row, and the others are done.
done = evaluate("first")
h.check(done.returncode == 1, "a failed task gives exit code 1", done)
found = rows("first")
h.check([row["kernel"] for row in found] == ["level1.2_Relu", "level1.10_Relu", "level1.30_Broken"], "tasks in natural order: %s" % found, done)
h.check([row["passed"] for row in found] == ["true", "true", "false"], "two pass", done)
h.check(found[2]["failure_kind"] == "task_error" and "30_Broken.py" in found[2]["failure_reason"], "why it failed: %s" % found[2], done)
h.check(os.path.exists(os.path.join(found[0]["artifacts_dir"], "final", "kernel.cu")), "the kernel is where the row says", done)
h.check("[1/3] level1.2_Relu  passed" in done.stdout, "progress per task", done)
for name in ("summary.md", "summary.json", "kernels/level1.2_Relu.json", "eval.json"):
    h.check(os.path.exists(h.path("first/" + name)), name + " is written")
suite = xml.etree.ElementTree.parse(h.path("first/junit.xml")).getroot()
h.check(suite.get("tests") == "3" and suite.get("failures") == "1", "JUnit counts")
with open(h.path("first/kernels/level1.2_Relu.json")) as file:
    report = json.load(file)["report"]
h.check(report["passed"] is True and report["correctness"]["passed"] is True, "the task's JSON has the whole report")

# Resume tries the failed one again, once it is mended.
h.expect("a second evaluation in a folder", ["eval", "--suite", "suite", "--out", "first", *COMMON], 2, "--resume")
h.write("suite/level1/30_Broken.py", RELU % 8)
before = os.stat(h.path("first/kernels/level1.2_Relu.json")).st_mtime_ns
done = evaluate("first", "--resume")
h.check(done.returncode == 0, "all pass now", done)
h.check(done.stdout.count("passed before, kept") == 2, "two are kept", done)
h.check(os.stat(h.path("first/kernels/level1.2_Relu.json")).st_mtime_ns == before, "what passed is not touched")
h.expect("resume with another budget", ["eval", "--suite", "suite", "--out", "first", "--resume", *COMMON, "--time", "7s"], 2, "seconds per task")

# Against an earlier one only what got worse counts.
done = evaluate("same", "--against", "first", "--limit", "1")
h.check(done.returncode == 0 and len(rows("same")) == 1, "nothing got worse", done)
h.write("suite/level1/2_Relu.py", "import torch\ndef reference(x: 'fp32[N]'):\n    return torch.no_such_function(x)\n")
done = evaluate("worse", "--against", "first", "--only", "*2_Relu", "--json", env={"KW_TORCH_PYTHON": "/nowhere/python"})
answer = json.loads(done.stdout)
h.check(done.returncode == 1 and answer["regressions"] == 1, "pass_to_fail is a regression", done)
h.check(rows("worse")[0]["regression"] == "pass_to_fail", "the row says so")
h.write("suite/level1/2_Relu.py", RELU % 96)

# Killed at any point, nothing that was done is lost; interrupted, it says how to go on.
for kind in (signal.SIGKILL, signal.SIGINT):
    folder = "cut%d" % kind
    process = subprocess.Popen([h.binary, "eval", "--suite", "suite", "--out", folder, *COMMON], env=h.environment, cwd=h.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()  # the first task is done
    time.sleep(0.2)
    process.send_signal(kind)
    out, err = process.communicate(timeout=120)
    kept = len(rows(folder))
    h.check(kept >= 1, "rows survive signal %d" % kind)
    if kind == signal.SIGINT and process.returncode != 0:
        h.check(process.returncode == 130, "interrupted is 130, not %d" % process.returncode)
        h.check("--resume" in out + err, "how to go on: %s %s" % (out, err))
    done = evaluate(folder, "--resume")
    h.check(done.returncode == 0 and len(rows(folder)) == 3, "continues after signal %d" % kind, done)
    h.check(done.stdout.count("kept") >= kept, "what was done before signal %d is kept" % kind, done)

# Bad input.
h.expect("an unknown suite", ["eval", "--suite", "internl"], 2, "did you mean 'internal'.*extended.*kernelbench")
os.makedirs(h.path("empty"))
h.expect("an empty folder", ["eval", "--suite", "empty", "--out", "none"], 2, "has no tasks")
h.expect("an unknown task", ["eval", "--only", "rms_norm_fp61", "--out", "none"], 2, "did you mean 'rms_norm_fp16'")
h.expect("nothing to compare with", ["eval", "--against", "nowhere", "--out", "none"], 2, "nowhere")
h.expect("jobs", ["eval", "--jobs", "0"], 2, "--jobs")
h.check(not os.path.exists(h.path("none")), "mistakes make no folder")

# Screening.
h.write("suite/level1/40_Random.py", "import torch\ndef reference(x: 'fp32[N]'):\n    return x + torch.randn(3)\n")
h.write("suite/level1/50_Unknown.py", "import torch\ndef reference(x: 'fp32[N]'):\n    return torch.no_such_function(x)\n")
done = h.run("screen", "suite", "--json", env={"KW_TORCH_PYTHON": "/nonexistent"})
answer = json.loads(done.stdout)
scopes = {entry["name"]: entry for entry in answer["files"]}
h.check(done.returncode == 0, "screen ends well", done)
h.check(scopes["level1.2_Relu"]["scope"] == "in_scope" and "relu" in scopes["level1.2_Relu"]["ops"], "a KernelBench file is in scope", done)
h.check(scopes["level1.50_Unknown"]["scope"] == "needs_review", "an unknown function needs review", done)
h.check(scopes["level1.40_Random"]["scope"] != "in_scope" and scopes["level1.40_Random"]["reason"], "randomness is refused", done)
h.check(sum(answer["counts"].values()) == len(answer["files"]), "counts add up")
h.expect("a folder that is not there", ["screen", "nowhere"], 2, "nowhere")
h.finish()
