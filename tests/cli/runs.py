"""Runs from outside: listed, looked at, compared, removed; and what a damaged, held or full folder does."""
import fcntl
import json
import os
import resource
import shutil
import struct
import subprocess
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
RUNS = h.path("runs")
h.environment["KERNELWRIGHT_RUNS"] = RUNS
REFERENCE = os.path.join(ROOT, "examples", "rms_norm.py")


def document(*words):
    done = h.run(*words, "--json")
    return json.loads(done.stdout)


# Nothing there yet.
h.expect("no runs", ["runs"], 0, r"no runs in .*runs")
h.expect("latest of nothing", ["inspect"], 2, r"there are no runs")
h.expect("unknown run", ["inspect", "zzz"], 2, r"has an id that begins with 'zzz'")
h.expect("unknown folder", ["inspect", "/no/where"], 2, r"there is no run folder /no/where")
h.expect("diff of one", ["diff", "a"], 2, r"two runs")
h.expect("nothing to remove", ["gc", "--older-than", "1d", "--delete"], 0, r"removed 0 of 0 runs")
h.expect("gc of what", ["gc"], 2, r"--older-than")
h.expect("no age", ["gc", "--older-than", "old"], 2, r"'old'")
h.expect("negative age", ["gc", "--older-than=-3d"], 2, r"'-3d'")
h.expect("no size", ["gc", "--budget", "much"], 2, r"'much'")
h.expect("no status", ["runs", "--status", "pased"], 2, r"not one of passed.*'passed'")
h.check(not os.path.exists(RUNS), "looking makes no folder")
done = h.run("runs", "--json", env={"KERNELWRIGHT_RUNS": "", "XDG_DATA_HOME": h.path("data")})
h.check(json.loads(done.stdout)["root"] == h.path("data/kernelwright/runs"), "XDG_DATA_HOME", done)
done = h.run("runs", "--json", env={"KERNELWRIGHT_RUNS": "", "XDG_DATA_HOME": "", "HOME": h.path("home")})
h.check(json.loads(done.stdout)["root"] == h.path("home/.local/share/kernelwright/runs"), "HOME", done)

# Folders that are not runs.
for name, content, want in (("empty", None, r"is not a run folder"), ("torn", "{", r"is damaged"), ("binary", "\0\1", r"is damaged"),
                            ("other", '{"format": "x"}', r"is damaged"),
                            ("newer", '{"format": "kernelwright run", "version": 9}', r"version 9")):
    os.mkdir(h.path(name))
    if content is not None:
        h.write(name + "/run.json", content)
    for words in (["inspect", h.path(name)], ["resume", h.path(name)], ["diff", h.path(name), h.path(name)]):
        h.expect("%s of %s" % (words[0], name), words, 2, want)

compiler = h.compiler()
SYNTHESIZE = ["synthesize", "--reference", REFERENCE, "--device", "vgpu", "--compiler", compiler, "--candidates", "3", "--time", "20s",
              "--cross-check", "never", "--seed", "1"]


def synthesize(*words):
    done = h.run(*SYNTHESIZE, *words)
    h.check(done.returncode == 0, "synthesize", done)
    return document("runs")["runs"][-1]


first = synthesize()
second = synthesize("--target", "sm_80")
listed = h.expect("the list", ["runs"], 0, first["id"] + ".*passed.*" + second["id"])
h.check(os.path.exists(os.path.join(RUNS, "index.sqlite")), "there is an index")
for name in (first["id"], first["folder"], first["id"][:-1]):
    h.expect("inspect " + name, ["inspect", name], 0, first["id"] + r".*passed.*final/kernel\.cu")
view = document("inspect", "latest")
h.check(view["run"]["id"] == second["id"] and view["damage"] == [] and view["crashes"] == 0, "latest is the second: %s" % view["run"])
h.check(view["report"]["passed"] is True and view["run"]["judged"] >= 1, "its report is in it")
best = view["candidates"][0]
h.expect("one candidate", ["inspect", "latest", "--candidate", best["id"]], 0, r"passed.*__global__")
h.expect("events", ["inspect", "latest", "--events"], 0, r"opened.*added.*judged.*finished.*closed")
h.expect("ambiguous", ["inspect", first["id"][:2]], 2, r"matches 2 runs")
h.expect("diff", ["diff", first["id"], second["id"]], 0, r"config\.target.*sm_80")
h.expect("the same", ["diff", first["id"], first["id"]], 0, r"the same")

# A folder that another process uses.
with open(os.path.join(first["folder"], "lock"), "r+") as lock:
    lock.write("process 4711 on elsewhere\n")
    lock.flush()
    fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    h.expect("held", ["resume", first["id"]], 2, r"in use by process 4711 on elsewhere")
    h.expect("held runs are shown", ["runs", "--status", "running"], 0, first["id"])
    h.expect("held runs can be looked at", ["inspect", first["id"]], 0, "running")
    h.expect("held runs are not removed", ["gc", "--budget", "0", "--keep", "1", "--delete"], 0, r"removed 0 of 2 runs")
h.expect("no longer held", ["runs", "--status", "passed"], 0, first["id"])

h.expect("a run in a run", [*SYNTHESIZE, "--out", first["folder"]], 2, r"is itself a run")

# Damage is named; a changed input stops the run, a damaged index nothing.
copy = os.path.join(RUNS, "copy")
shutil.copytree(first["folder"], copy)
with open(os.path.join(copy, "final", "kernel.cu"), "a") as file:
    file.write("// changed\n")
h.expect("a changed kernel", ["inspect", copy], 0, r"damaged +final/kernel\.cu was changed")
with open(os.path.join(copy, "inputs", "reference.py"), "a") as file:
    file.write("# changed\n")
h.expect("a changed input", ["resume", copy], 2, r"inputs/reference\.py was changed")
with open(os.path.join(RUNS, "index.sqlite"), "wb") as file:
    file.write(b"\xff" * 5000)
h.expect("a damaged index", ["runs"], 0, first["id"])
shutil.rmtree(copy)


# A disk that takes no more: no file may grow past 4000 bytes.
def full():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


room = h.path("room")
done = subprocess.run([h.binary, *SYNTHESIZE, "--out", room], env=h.environment, cwd=h.folder, preexec_fn=full, restore_signals=False,
                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
h.check(done.returncode == 3, "a full disk is the environment's fault", done)
h.check("too large" in done.stderr + done.stdout or "No space" in done.stderr + done.stdout, "and says so", done)
for name in sorted(os.listdir(room)) if os.path.isdir(room) else []:
    if os.path.exists(os.path.join(room, name, "run.json")):
        h.expect("what was stored can be looked at", ["inspect", name, "--out", room], 0, name)

# Removing.
h.expect("dry run", ["gc", "--budget", "0"], 0, r"would remove 2 of 2 runs")
h.check(len(document("runs")["runs"]) == 2, "a dry run removes nothing")
h.expect("all but one", ["gc", "--budget", "0", "--keep", "1", "--delete"], 0, r"removed 1 of 2 runs")
h.check([run["id"] for run in document("runs")["runs"]] == [second["id"]], "the newest is left")
h.check(not os.path.exists(first["folder"]), "and the other is gone")
h.finish()
