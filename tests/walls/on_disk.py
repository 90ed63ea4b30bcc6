"""What lies on disk: caches that are edited, exchanged or shared, modes of files, folders of killed processes, no home, no descriptors."""
import glob
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import Harness, ROOT  # noqa: E402

os.umask(0o022)
h = Harness(sys.argv[1], own_cache=True)
if all(h.run("doctor", "--has", name).returncode != 0 for name in ("nvrtc", "clang", "nvcc")):
    print("skipped: no CUDA compiler here")
    sys.exit(77)
CACHE = h.environment["KERNELWRIGHT_CACHE"]
EXAMPLE = os.path.join(ROOT, "examples", "rms_norm.%s")
text = open(EXAMPLE % "cu").read()
right = h.write("right.cu", text)
wrong = h.write("wrong.cu", text.replace("sum += value * value", "sum += value * 1.5f"))
SMALL = ["--reference", EXAMPLE % "py", "--device", "vgpu", "--dims", '{"B": 3, "D": 100}', "--cross-check", "never"]


def verify(module):
    return h.run("verify", module, *SMALL, "--family", "normal")


def entries():
    return set(glob.glob(os.path.join(CACHE, "compile", "*", "*")))


# An entry in place of another one.
done = verify(right)
h.check(done.returncode == 0, "the right kernel passes", done)
of_right = entries()
done = verify(wrong)
h.check(done.returncode == 1, "the wrong kernel does not", done)
of_wrong = entries() - of_right
h.check(of_right and of_wrong, "both have entries")
for good in of_right:
    for bad in of_wrong:
        shutil.copy(good, bad)
    done = verify(wrong)
    h.check(done.returncode == 1, "a wrong kernel with the entry of the right one", done)

# A cache that others can write.
for folder in (CACHE, os.path.join(CACHE, "compile")):
    os.chmod(folder, 0o777)
    done = verify(right)
    h.check(done.returncode == 0 and "chmod -R go-w '%s'" % folder in done.stdout, "a shared cache is told: " + folder, done)
    os.chmod(folder, 0o700)
h.check("not cached" not in verify(right).stdout, "a private cache needs no note")

# Headers of the same size.
if headers := glob.glob(os.path.join(CACHE, "nvrtc-*", "**", "*.h"), recursive=True):
    for path in headers:
        with open(path, "r+b") as file:
            file.write(b"\0" * os.path.getsize(path))
    for path in entries():
        os.unlink(path)
    done = verify(right)
    h.check(done.returncode == 0, "headers that a power cut filled with zeros are written again", done)

# Modes.
runs = h.path("runs")
synthesize = ["synthesize", *SMALL, "--out", runs, "--time", "20s"]
done = h.run(*synthesize, "--candidates", "2")
h.check(done.returncode == 0, "synthesize", done)
for folder in (CACHE, runs):
    for at, folders, files in os.walk(folder):
        for name in ["."] + folders + files:
            path = os.path.join(at, name)
            mode = stat.S_IMODE(os.lstat(path).st_mode)
            h.check(os.path.islink(path) or mode & 0o077 == 0, "%s has mode %o" % (path, mode))

# Temporary folders of killed processes.
temporary = h.path("tmp")
os.mkdir(temporary)
environment = dict(h.environment, TMPDIR=temporary)
left = 0
for number in range(8):
    process = subprocess.Popen([h.binary, *synthesize, "--candidates", "100", "--seed", str(number)], env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while process.poll() is None and not os.listdir(temporary) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05 * number)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left += len(os.listdir(temporary))
time.sleep(0.5)  # until the workers have noticed
h.run("runs", env={"TMPDIR": temporary})
h.check(left > 0 and os.listdir(temporary) == [], "of %d folders these stayed: %s" % (left, os.listdir(temporary)))

# An edited verdict.
(folder,) = [os.path.join(runs, name) for name in os.listdir(runs)
             if os.path.isfile(os.path.join(runs, name, "report.json")) and "passed" in h.run("inspect", os.path.join(runs, name)).stdout][:1]
for path in glob.glob(os.path.join(folder, "candidates", "*", "verdict.json")):
    with open(path) as file:
        verdict = json.load(file)
    with open(path, "w") as file:
        json.dump(dict(verdict, verdict="passed" if verdict["verdict"] != "passed" else "qassed"), file)
view = json.loads(h.run("inspect", folder, "--json").stdout)
h.check(any("verdict.json was changed" in line for line in view["damage"]), "edited verdicts are told: %s" % view["damage"])
h.check(not any(row["verdict"] for row in view["candidates"]), "and not shown: %s" % view["candidates"])

# No home.
nothing = {"HOME": "", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "", "KERNELWRIGHT_CACHE": "", "KERNELWRIGHT_RUNS": ""}
done = h.run("runs", "--json", env=nothing)
root = json.loads(done.stdout)["root"]
h.check(not root.startswith("/tmp/.local"), "no shared folder below /tmp: " + root, done)
if os.geteuid() == 0 and shutil.which("setpriv"):
    strange = h.path("strange")
    os.mkdir(strange)
    os.chmod(strange, 0o1777)
    os.chmod(h.folder, 0o755)
    somebody = ["setpriv", "--reuid", "54321", "--clear-groups", h.binary, "runs", "--json"]
    home = os.path.join(strange, ".kernelwright-home-54321")

    def as_somebody():
        return subprocess.run(somebody, env=dict(h.environment, **nothing, TMPDIR=strange), capture_output=True, text=True)

    if subprocess.run(somebody[:4] + ["true"]).returncode == 0 and os.access(h.binary, os.X_OK):
        done = as_somebody()
        if done.returncode == 0:
            h.check(json.loads(done.stdout)["root"].startswith(home + "/"), "a folder of the user's own", done)
            h.check(stat.S_IMODE(os.lstat(home).st_mode) == 0o700, "that no other user can enter")
            shutil.rmtree(home)
            os.mkdir(home)  # by another user, before ours
            os.chmod(home, 0o777)
            done = as_somebody()
            h.check(done.returncode == 3 and "set HOME" in done.stdout, "a folder that somebody else put there", done)

# Few descriptors.
done = subprocess.run([h.binary, "verify", right, *SMALL], env=h.environment, capture_output=True, text=True,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10)))
h.check(done.returncode == 3 and "ulimit -n" in done.stdout + done.stderr, "the limit of descriptors is named", done)
h.finish()
