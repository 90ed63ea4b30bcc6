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

h.expect("no such folder", ["lint", os.path.join(ROBUST, "nothing")], 2, "no such file or folder")
h.expect("no time at all", ["lint", ROBUST, "--seconds", "0"], 2, "--seconds")
os.mkdir(h.path("empty"))
done = h.run("lint", h.path("empty"))
h.check(done.returncode == 1 and "unreadable" in done.stdout, "a folder without tasks", done)
h.finish()
