"""Records that somebody changed, and fsck: what does not agree is named, not used, and judged again."""
import glob
import json
import os
import re
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import Harness, ROOT  # noqa: E402

os.umask(0o022)
h = Harness(sys.argv[1])
if all(h.run("doctor", "--has", name).returncode != 0 for name in ("nvrtc", "clang", "nvcc")):
    print("skipped: no CUDA compiler here")
    sys.exit(77)
h.environment["XDG_DATA_HOME"] = h.path("data")
RUNS = h.path("runs")
EXAMPLE = os.path.join(ROOT, "examples", "rms_norm.py")
SMALL = ["synthesize", "--reference", EXAMPLE, "--device", "vgpu", "--dims", '{"B": 3, "D": 100}', "--cross-check", "never", "--out", RUNS,
         "--time", "20s", "--candidates", "2"]


def told(name, words, code, pattern):
    done = h.run(*words)
    h.check(done.returncode == code and re.search(pattern, done.stdout), name, done)


def document(*words, **env):
    return json.loads(h.run(*words, "--json", env=env or None).stdout)


def only_run():
    (folder,) = [os.path.dirname(path) for path in glob.glob(os.path.join(RUNS, "*", "run.json"))]
    return folder


# With little memory no candidate can be judged; that is no verdict about any of them.
def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (110 << 20, 110 << 20))


def run_poor(*words):
    environment = dict(h.environment, KERNELWRIGHT_CACHE=h.path("no-cache"))
    return subprocess.run([h.binary, *words], env=environment, preexec_fn=little_memory, capture_output=True, text=True)


if run_poor("version").returncode == 0:  # a sanitizer needs more
    done = run_poor(*[word if word != RUNS else h.path("poor") for word in SMALL])
    h.check(done.returncode == 3, "with little memory it is the machine's fault", done)
    for path in glob.glob(h.path("poor/*/candidates/*/verdict.json")):
        with open(path) as file:
            verdict = json.load(file)
        h.check(verdict["verdict"] != "rejected", "and no candidate's: %s" % verdict)

done = h.run(*SMALL)
h.check(done.returncode == 0, "synthesize", done)
run = only_run()
key = h.path("data/kernelwright/signing.key")
h.check(stat.S_IMODE(os.stat(key).st_mode) == 0o600, "the key is for its user alone")
view = document("inspect", run)
h.check(view["damage"] == [] and view["signature"] == "own", "an honest run: %s" % view["damage"])
h.expect("fsck of an honest run", ["fsck", run], 0, r"checked 1 run with \d+ candidates: no fault is left")
h.expect("fsck of what", ["fsck"], 2, r"fsck RUN")
h.expect("fsck of both", ["fsck", run, "--all"], 2, r"fsck RUN")
honest = h.path("honest")
shutil.copytree(run, honest, symlinks=True)

# Another user, or this one on another machine.
other = {"XDG_DATA_HOME": h.path("elsewhere")}
h.check(document("inspect", run, **other)["signature"] != "own", "no key here: its verdicts are not checked")
h.run(*[word if word != RUNS else h.path("others") for word in SMALL], env=other)
h.check(document("inspect", run, **other)["signature"].startswith("signed by another key"), "another user's run is told")
h.check(document("inspect", run, **other)["damage"] == [], "that is no accusation")
done = h.run("fsck", run, env=other)
h.check(done.returncode == 0 and "note" in done.stdout, "fsck says so too", done)
with open(os.path.join(run, "events.jsonl")) as file:
    before = len(file.readlines())
done = h.run("resume", run, "--candidates", "2", env=other)
with open(os.path.join(run, "events.jsonl")) as file:
    later = [json.loads(line) for line in file.readlines()[before:]]
h.check(done.returncode == 0 and any(event["kind"] == "judged" for event in later), "its resume judges again", done)


def forge_verdict():
    """A refused candidate becomes a passed one, in its file and in its event."""
    shutil.rmtree(run)
    shutil.copytree(honest, run, symlinks=True)
    (path, *_) = glob.glob(os.path.join(run, "candidates", "*", "verdict.json"))
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace('"passed"', '"wrong"', 1) if '"passed"' in text else text.replace('"rejected"', '"passed"', 1))
    return os.path.basename(os.path.dirname(path))


candidate = forge_verdict()
damage = document("inspect", run)["damage"]
h.check(damage == ["candidates/%s/verdict.json was changed" % candidate], "an edited verdict: %s" % damage)
told("fsck names it", ["fsck", run], 1, r"fault.*verdict.json was changed\n.*kernelwright resume")
h.check(not os.path.exists(os.path.join(run, "aside")), "without --repair nothing changes")
h.expect("fsck repairs it", ["fsck", run, "--repair"], 0, r"repaired.*verdict.json was changed")
h.check(glob.glob(os.path.join(run, "aside", "*" + candidate + "*")), "and keeps it")
h.expect("fsck again", ["fsck", run], 0, r"no fault is left")

# The events.
shutil.rmtree(run)
shutil.copytree(honest, run, symlinks=True)
events = os.path.join(run, "events.jsonl")
with open(events) as file:
    lines = file.readlines()
with open(events, "w") as file:
    file.writelines(lines[:-3])
h.expect("events cut off are told", ["inspect", run], 0, r"damaged.*events.jsonl lacks \d+ bytes at its end that were signed")
told("and by fsck", ["fsck", run], 1, r"events.jsonl lacks")
done = h.run("resume", run, "--candidates", "2")
h.check(done.returncode == 0 and "damaged" in done.stdout + done.stderr, "resume tells it and goes on", done)
h.expect("it stays told", ["inspect", run], 0, r"damaged.*lost or changed events")

# Modes and the index.
shutil.rmtree(run)
shutil.copytree(honest, run, symlinks=True)
h.run("runs", "--out", RUNS)
os.chmod(os.path.join(run, "report.json"), 0o664)
index = sqlite3.connect(os.path.join(RUNS, "index.sqlite"))
index.execute("UPDATE runs SET best_us = 0.001")
index.commit()
index.close()
told("both are told", ["fsck", "--all", "--out", RUNS], 1, r"other users can read or change 1 of its files(.|\n)*index: the row of")
h.expect("and repaired", ["fsck", "--all", "--out", RUNS, "--repair"], 0, r"repaired(.|\n)*repaired")
h.expect("for good", ["fsck", "--all", "--out", RUNS], 0, r"no fault is left")
h.check(stat.S_IMODE(os.stat(os.path.join(run, "report.json")).st_mode) == 0o600, "the mode")
findings = document("fsck", "--all", "--out", RUNS)
h.check(findings["findings"] == [] and findings["runs"] == 1 and findings["ok"], "as JSON: %s" % findings)
h.finish()
