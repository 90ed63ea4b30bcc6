"""A whole synthesis by the real program, killed at its n-th change of the run folder and resumed, for many n: it always ends in a
verified kernel, and no verdict is lost. KW_CUT_ALL=1 cuts at every change instead of a sample of them."""
import glob
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from harness import Harness, ROOT  # noqa: E402

h = Harness(sys.argv[1])
SHIM = os.path.abspath(sys.argv[2])
SAMPLE = 14 if os.environ.get("KW_LONG") == "1" else 4
h.environment["KERNELWRIGHT_LIBCUDA"] = "/nowhere/libcuda.so.1"
WORDS = ["--reference", os.path.join(ROOT, "examples", "rms_norm.py"), "--compiler", h.compiler(), "--cross-check", "never",
         "--candidates", "3", "--seed", "5", "--device", "vgpu", "--dims", '{"B": 64, "D": 64}']


def synthesize(root, **settings):
    return h.run("synthesize", *WORDS, "--out", root, env=dict(settings, LD_PRELOAD=SHIM, KW_CUT_FOLDER=root))


def verdicts(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "candidates", "*", "verdict.json")):
        with open(path) as file:
            found[path] = json.load(file)["verdict"]
    return found


def cut(at, how):
    what = "cut %s change %d" % (how, at)
    root = h.path("%s-%d" % (how, at))
    done = synthesize(root, KW_CUT_AT=str(at), KW_CUT_HOW=how)
    h.check(done.returncode == -signal.SIGKILL, what + ": it was killed", done)
    folders = [os.path.dirname(path) for path in glob.glob(os.path.join(root, "*", "run.json"))]
    listed = h.run("runs", "--out", root, "--json")
    h.check(listed.returncode == 0, what + ": runs can be listed", listed)
    if not folders:
        again = h.run("synthesize", *WORDS, "--out", root)
        h.check(again.returncode == 0, what + ": nothing was begun, and a new run works", again)
        return
    before = verdicts(folders[0])
    seen = json.loads(h.run("inspect", folders[0], "--json").stdout)
    h.check(seen.get("damage") == [], what + ": nothing is damaged: %s" % seen.get("damage"))
    done = h.run("resume", folders[0])
    h.check(done.returncode == 0, what + ": it continues to the end", done)
    after = verdicts(folders[0])
    h.check(all(after.get(path) == verdict for path, verdict in before.items()), what + ": every verdict is kept")
    with open(os.path.join(folders[0], "report.json")) as file:
        report = json.load(file)
    h.check(report["passed"] and report["storage"]["judged"] >= len(before), what + ": the report has them")
    h.check(os.path.getsize(os.path.join(folders[0], "final", "kernel.cu")) > 0, what + ": there is a kernel")
    h.check(not glob.glob(os.path.join(folders[0], "**", "*.tmp-*"), recursive=True), what + ": no leftovers")


root = h.path("whole")
done = synthesize(root, KW_CUT_COUNT=h.path("count"))
h.check(done.returncode == 0 and os.path.exists(h.path("count")), "uncut it works", done)
with open(h.path("count")) as file:
    changes = int(file.read())
h.check(changes > 40, "a run makes many changes: %d" % changes)
step = 1 if os.environ.get("KW_CUT_ALL") else max(1, changes // SAMPLE)
for number, at in enumerate(range(0, changes - 1, step)):
    for how in ("before", "torn", "after") if step == 1 else (("torn", "after", "before")[number % 3],):
        cut(at, how)
print("%d changes, every %d. cut" % (changes, step))
h.finish()
