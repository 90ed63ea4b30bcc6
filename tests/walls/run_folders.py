"""Run folders from elsewhere: nothing is read or written through them outside, and no program they name is run."""
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("cli", "mcp"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
from client import Pipes  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness(sys.argv[1])
if all(h.run("doctor", "--has", name).returncode != 0 for name in ("nvrtc", "clang", "nvcc")):
    print("skipped: no CUDA compiler here")
    sys.exit(77)
SECRET = "kw-private: 31337\n"
root, outside = h.path("root"), h.path("outside")
os.makedirs(root)
reference = h.write("root/twice.py", 'def reference(x: "fp32[N]"):\n    return x * 2\n')
QUICK = ["--device", "vgpu", "--time", "2s", "--candidates", "2", "--quick", "--cross-check", "never"]
SMALL = ["--dim", "N=4096"]


def made(*words):
    runs = h.path("root/runs")
    before = os.listdir(runs) if os.path.isdir(runs) else []
    done = h.run("synthesize", "--reference", reference, *SMALL, *QUICK, "--out", runs, *words)
    (name,) = [name for name in os.listdir(runs) if name not in before and not name.startswith("index")]
    return done, os.path.join(runs, name)


def fresh(folder):
    """The folder as it was, and the secrets."""
    copy = os.path.join(root, "copy")
    for path in (copy, outside):
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(folder, copy, symlinks=True)
    os.makedirs(os.path.join(outside, "d"))
    with open(os.path.join(outside, "secret"), "w") as file:
        file.write(SECRET)
    return copy


def unharmed():
    return open(os.path.join(outside, "secret")).read() == SECRET and os.listdir(os.path.join(outside, "d")) == [] and \
        sorted(os.listdir(outside)) == ["d", "secret"]


def spoil(copy, name, target):
    path = os.path.join(copy, name)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    os.symlink(os.path.join(outside, target), path)


def refused(what, done):
    text = done.stdout + done.stderr
    h.check("31337" not in text, what + ": nothing is told", done)
    h.check(unharmed(), what + ": nothing is written", done)


# --- run folders ---
done, folder = made()
h.check(done.returncode == 0 and os.path.isdir(folder), "a run", done)
candidate = sorted(os.listdir(os.path.join(folder, "candidates")))[0]
FILES = ["run.json", "events.jsonl", "checkpoint.json", "report.json", "inputs/config.json", "inputs/reference.py", "inputs/prompt.txt",
         "final/kernel.cu", "final/README.md"]
FILES += ["candidates/%s/%s" % (candidate, name) for name in ("module.cu", "verdict.json", "lineage.json", "compile.log", "profile.json")]
for name in FILES:
    copy = fresh(folder)
    spoil(copy, name, "secret")
    for words in (["resume", copy, "--time", "1s", "--device", "vgpu"], ["inspect", copy, "--candidate", candidate], ["inspect", copy, "--events"],
                  ["diff", copy, folder], ["runs", "--out", root], ["tune", copy, "--device", "vgpu"]):
        done = h.run(*words)
        refused("%s with %s as a link" % (words[0], name), done)
        h.check(done.returncode in (0, 1, 2, 3) and (words[0] in ("runs", "diff", "inspect") or done.returncode != 0),
                "%s with %s: %d" % (words[0], name, done.returncode), done)
for name in ("candidates", "final", "inputs", "candidates/" + candidate, "lock"):
    copy = fresh(folder)
    spoil(copy, name, "d")
    refused("resume with %s as a link" % name, h.run("resume", copy, "--time", "1s", "--device", "vgpu"))
# A folder of runs: a link to another is not one of them.
elsewhere = h.path("elsewhere")
shutil.copytree(folder, elsewhere)
os.symlink(elsewhere, os.path.join(root, "runs", "20990101-000000-linked-000000000000"))
listed = h.run("runs", "--out", h.path("root/runs"))
h.check(os.path.basename(folder) in listed.stdout and "20990101" not in listed.stdout, "a linked run is not listed", listed)

# --- what a run names is not run: the program ends us, so that the run stays open ---
mark = h.path("mark")
program = h.write("program", "#!/bin/sh\ntouch '%s'\nkill -9 $PPID\n" % mark)
os.chmod(program, 0o755)
done, asking = made("--proposer", "llm", "--model-id", "command:" + program)
h.check(os.path.exists(mark), "the user's own command runs it", done)
os.remove(mark)
copy = fresh(asking)
done = h.run("resume", copy, "--time", "1s", "--device", "vgpu")
h.check(not os.path.exists(mark) and done.returncode == 2 and "--allow-commands" in done.stdout + done.stderr, "a run's program is not run", done)
done = h.run("resume", fresh(asking), "--time", "1s", "--device", "vgpu", "--allow-commands")
h.check(os.path.exists(mark), "the user may allow it", done)

# --- optimize ---
h.write("root/twice.cu", """//! kernelwright 1
//! task    twice
//! input   x: fp32[N]
//! output  y: fp32[N]
//! launch  twice grid(ceil_div(N, 128)) block(128) args(x, y, N)
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
""")
done = h.run("optimize", "setup", h.path("root/twice.cu"), "--reference", reference, *SMALL, "--device", "vgpu", "--cross-check", "never",
             "--out", h.path("root/op"))
(tuning,) = [os.path.join(root, "op", name) for name in os.listdir(h.path("root/op"))]
for name, target, words in (("iterv1", "d", ["open-iter", "--iter", "1"]), ("state.json", "secret", ["state"]),
                            ("state.json", "secret", ["state", "--restore"]), ("journal.jsonl", "secret", ["open-iter", "--iter", "1"]),
                            ("baseline", "d", ["open-iter", "--iter", "1"]), ("env.json", "secret", ["preflight"])):
    copy = fresh(tuning)
    spoil(copy, name, target)
    done = h.run("optimize", *words, "--run-dir", copy)
    refused("optimize %s with %s as a link" % (words[0], name), done)
    h.check(done.returncode == 2 and "leads out of its folder" in done.stdout + done.stderr, "optimize %s with %s" % (words[0], name), done)
copy = fresh(tuning)
os.makedirs(os.path.join(copy, "iterv1"))
spoil(copy, "iterv1/analysis.md", "secret")
refused("optimize open-iter with a link inside", h.run("optimize", "open-iter", "--iter", "1", "--force", "--run-dir", copy))

# --- the same for an MCP client, whose files may name others ---
fresh(folder)
server = Pipes(h.binary, "--root", root, env=dict(h.environment, KERNELWRIGHT_RUNS=h.path("root/runs")))
server.hello()


def said(tool, **arguments):
    answer = server.call(tool, **arguments)
    return json.dumps(answer.get("structuredContent", {})) + "".join(part.get("text", "") for part in answer["content"])


spoil(os.path.join(root, "copy"), "candidates/%s/compile.log" % candidate, "secret")
text = said("inspect_run", run=os.path.join(root, "copy"), candidate=candidate, full=True)
h.check("31337" not in text and "leads out of its folder" in text and unharmed(), "inspect_run reads nothing outside: " + text[-300:])
text = said("resume_run", run=os.path.join(root, "copy"), time="1s")
h.check("31337" not in text and "leads out of its folder" in text and unharmed(), "resume_run writes nothing outside: " + text[-300:])
for path in (os.path.join(outside, "secret"), "/etc/passwd", os.path.join(root, "..", "outside", "secret")):
    text = said("evolve", reference="twice.py", proposer="llm", ensemble=path, time="1s", dims={"N": 1024})
    h.check("31337" not in text and "root:" not in text, "an ensemble is text, not a file: " + text[-300:])
# A run whose reference has become a link to elsewhere: its text would come back as a difference.
copy = fresh(folder)
with open(os.path.join(outside, "secret.py"), "w") as file:
    file.write("def reference(x):\n    return x * 31337\n")
os.rename(reference, reference + ".kept")
os.symlink(os.path.join(outside, "secret.py"), reference)
text = said("resume_run", run=os.path.join(root, "copy"), time="1s")
h.check("31337" not in text and "outside of the allowed folders" in text, "a run's reference outside of the roots is not read: " + text[-400:])
os.replace(reference + ".kept", reference)
server.end()
h.finish()
