"""On a machine with a GPU: the processes that use it work behind their walls, and which of their system calls were refused.

Needs only the binary and a Python with torch. Where strace is on PATH, or named by $STRACE, every refused call is printed by name with its
count. A refused call is no failure by itself: libraries continue without many of them. It is the first thing to look at when a check fails."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import ROOT, Harness, skip  # noqa: E402

if not os.path.exists("/dev/nvidiactl"):
    skip("no GPU")
h = Harness(sys.argv[1], own_cache=True)
STRACE = os.environ.get("STRACE") or shutil.which("strace")
MODULE, REFERENCE = (os.path.join(ROOT, "examples", "rms_norm" + end) for end in (".cu", ".py"))
DIMS = ["--dims", '{"B": 64, "D": 1024}']
COMMANDS = [
    ("the GPU worker", ["run", MODULE, *DIMS, "--device", "gpu"]),
    ("a verdict on the GPU", ["verify", MODULE, "--reference", REFERENCE, "--device", "gpu"]),
    ("times, and PyTorch's, compiled too", ["bench", MODULE, "--reference", REFERENCE, *DIMS, "--versus", "eager,compile"]),
    ("a reference that PyTorch executes", ["verify", MODULE, "--reference", REFERENCE, "--device", "gpu", "--cross-check", "always"]),
]


def refused(log):
    counts = collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.search(r"^\d+\s+(\w+)\((.*?)\)?\s+= -1 (EPERM|EACCES)", line)
            if found:
                name = found[1]
                detail = found[2].split(",")
                counts["%s %s %s" % (name, found[3], (detail[1] if name in ("openat", "ioctl", "prctl") and len(detail) > 1 else "").strip())] += 1
    return counts


for name, words in COMMANDS:
    for confined in (False, True):  # without walls first: what fails there is not theirs
        more = [] if confined else ["--unconfined", "gpu,torch"]
        done = h.run(*words, *more, "--json")
        text = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        right = done.returncode == 0
        if not confined and not right:
            print("%s fails without walls too: %s" % (name, done.stderr.strip()[-300:]))
            break
        if confined:
            h.check(right, name + " works behind walls", done)
            h.check("unconfined" not in text, name + ": the verdict says nothing of missing walls", done)
        elif "verdict" in text:
            h.check("gpu" in text.get("unconfined", []), name + ": the verdict names the missing walls", done)
    if STRACE:
        log = h.path("log")
        subprocess.run([STRACE, "-f", "-q", "-o", log, h.binary, *words, "--json"], env=h.environment, cwd=h.folder, capture_output=True, check=False)
        print("refused calls of %s:" % name)
        for call, count in refused(log).most_common():
            print("  %6d  %s" % (count, call))
if not STRACE:
    print("strace is missing: refused calls are not named; STRACE=/path/to/strace names one")
h.finish()
