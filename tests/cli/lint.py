"""lint of folders: a row for each task, what is wrong with a folder's configurations, and an end in time."""
import json
import os
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
ROBUST = os.path.join(ROOT, "tests", "frontend", "rkb")

done = h.run("lint", ROBUST, "--json", "--seeds", "2")
h.check(done.returncode == 1, "a folder with degenerate tasks", done)
rows = {row["task"]: row for row in json.loads(done.stdout)["tasks"]}
h.check(sorted(rows) == ["block", "block[features=128]", "block[step=2]", "clash", "class_loss", "no_config", "noisy", "row_norm",
                         "row_norm.backward", "spread_linear", "spread_linear.backward", "window_max", "window_max.backward"],
        "the tasks found: " + ", ".join(sorted(rows)))


def rules(task, severity):
    return {finding["rule"] for finding in rows[task]["findings"] if finding["severity"] == severity}


for task, severity, rule in (
        ("window_max", "error", "config-contradiction"), ("window_max", "warning", "config-duplicate"),
        ("window_max.backward", "error", "backward-call"), ("spread_linear", "warning", "input-names"),
        ("spread_linear.backward", "warning", "directions-differ"), ("clash", "error", "config-contradiction"),
        ("no_config", "error", "config-missing"), ("noisy", "error", "unreadable"), ("row_norm", "warning", "launch-bound")):
    h.check(rule in rules(task, severity), "%s: %s %s among %s" % (task, severity, rule, rows[task]["findings"]))
for task in ("row_norm", "row_norm.backward", "class_loss", "block", "block[step=2]"):
    h.check(rows[task]["usable"] and rows[task]["kill_rate"] == 1, "%s is usable: %s" % (task, rows[task]["findings"]))

done = h.run("lint", os.path.join(ROBUST, "row_norm"), "--seeds", "2")
h.check(done.returncode == 0 and "2 tasks: 2 usable" in done.stdout, "both directions of one folder", done)
done = h.run("lint", os.path.join(ROBUST, "row_norm", "func_forward.py"), "--seeds", "2")
h.check(done.returncode == 0 and "imposters stopped: 100 %" in done.stdout, "one direction", done)

# Tasks whose files hide what they ask for, in folders as others have them: each with the words that say why.
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
KERNELBENCH = HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        return {forward}


def get_inputs():
    return [{draw}]


def get_init_inputs():
    return []
"""
ROBUST_BLOCK = HEAD + """
def forward_fn(x, w, mean, var, gain, shift):
    return F.relu(F.batch_norm(F.conv2d(x, w, padding=1), mean, var, gain, shift))


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.conv = nn.Conv2d(features, features, 3, bias=False)
        self.norm = nn.BatchNorm2d(features)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.conv.weight, self.norm.running_mean, self.norm.running_var, self.norm.weight, self.norm.bias)


def get_inputs(batch: int, features: int):
    return [torch.randn(batch, features, 8, 8)]


input_names = ["x"]
"""
HIDDEN = {
    "bias": (dict(init="self.fc = nn.Linear(64, 64); nn.init.zeros_(self.fc.bias)", forward="self.fc(x)", draw="torch.randn(16, 64)"),
             "constant-init: the file leaves 1 of its weights at one number (fc_bias = 0)"),
    "positive": (dict(init="pass", forward="torch.relu(x) * 2", draw="torch.rand(64, 256)"), "hidden-op: as the file fills its tensors (x in 0 … 1), 'relu'"),
    "saturated": (dict(init="pass", forward="torch.sigmoid(x * 1e5)", draw="torch.randn(64, 256)"), "saturated-output: "),
    "diagonal": (dict(init="self.a = nn.Parameter(torch.randn(64))", forward="torch.diag(self.a) @ x", draw="torch.randn(64, 32)"), "idle-work: an operand of"),
    "one_row": (dict(init="pass", forward="F.layer_norm(x, (300_000,))", draw="torch.randn(1, 300_000)"), "few-rows: 'layer_norm' has 1 rows"),
    "counter": (dict(init="self.n = 0", forward="[setattr(self, 'n', self.n + 1), x * self.n][1]", draw="torch.randn(16, 64)"), "kept-state: a second call"),
    "one_wide": (dict(init="pass", forward="torch.softmax(x.sum(-1, keepdim=True), -1) * 3", draw="torch.randn(64, 64)"), "output-range: all of 'out0'"),
}
hidden = h.path("hidden")
for name, (parts, _) in HIDDEN.items():
    os.makedirs(os.path.join(hidden, "level1"), exist_ok=True)
    with open(os.path.join(hidden, "level1", name + ".py"), "w", encoding="utf-8") as file:
        file.write(KERNELBENCH.format(**parts))
os.makedirs(os.path.join(hidden, "block"))
with open(os.path.join(hidden, "block", "func_forward.py"), "w", encoding="utf-8") as file:
    file.write(ROBUST_BLOCK)
with open(os.path.join(hidden, "block", "config_forward.json"), "w", encoding="utf-8") as file:
    json.dump({part + "_configs": [{}] for part in ("single_init", "multi_init")} |
              {part + "_configs": [{"features": 8}] for part in ("single_shared", "multi_shared")} |
              {part + "_configs": [{"batch": 2}] for part in ("single_input", "multi_input")}, file)
done = h.run("lint", hidden, "--seeds", "2")
for name, (_, words) in HIDDEN.items():
    h.check(words in done.stdout, "%s: %s" % (name, words), done)
h.check("norm_weight = 1, norm_bias = 0, norm_running_mean = 0, norm_running_var = 1), 'batch_norm' returns its input, up to" in done.stdout,
        "a block whose norm is at identity", done)
h.check(done.returncode == 1 and "8 tasks: 6 usable, 2 degenerate" in done.stdout, "what is an error and what is not", done)

# What overflows: an error in the families that every gate draws, a warning in others.
for name, formula, severity, family in (("hot", "x * 60000", "error", "normal"), ("square", "x * x", "warning", "offset")):
    task = h.write(name + ".py", "import torch\nN = 4096\ndef %s(x: 'fp16[N]'):\n    return %s\n" % (name, formula))
    done = h.run("lint", task, "--seeds", "2")
    found = [line.split("]")[0].strip() for line in done.stdout.splitlines() if "[overflow]" in line and "family '%s'" % family in line]
    h.check(found == [severity + " [overflow"] and done.returncode == (1 if severity == "error" else 0), "overflow of " + name, done)

h.expect("no such folder", ["lint", os.path.join(ROBUST, "nothing")], 2, "no such file or folder")
h.expect("no time at all", ["lint", ROBUST, "--seconds", "0"], 2, "--seconds")
os.mkdir(h.path("empty"))
done = h.run("lint", h.path("empty"))
h.check(done.returncode == 1 and "unreadable" in done.stdout, "a folder without tasks", done)
h.finish()
