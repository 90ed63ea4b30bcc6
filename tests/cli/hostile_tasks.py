"""Task folders, suites and evaluations of a stranger: paths in them must stay inside them, in every format."""
import json
import os
import shutil
import sys

from harness import Harness

h = Harness(sys.argv[1])
SECRET = "def secret(x):\n    return x * 31337\n"
GOOD = "def own(x):\n    return x * 2\n"
MODEL = ('import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n\n'
         '    def forward(self, x):\n        return x * 2\n\n\ndef get_inputs(n=64):\n    return [torch.randn(n)]\n\n\n'
         'def get_init_inputs():\n    return []\n')
TOML = '%s[inputs]\nx = "fp32[N]"\n[shapes]\nbenchmark = [{ N = 1024 }]\n'
CONFIG = '{"single_input_configs": [{"n": 64}], "single_init_configs": [{}]}'
OUTSIDE = h.path("home")
os.makedirs(OUTSIDE)
LEAK = ("31337", "secret(", "kw-private")
for name, text in (("secret.py", SECRET), ("secret.txt", "kw-private key\n"), ("config.json", CONFIG.replace("64", "31337"))):
    h.write("home/" + name, text)
count = 0


def folder(files):
    """A fresh folder, three levels below what it should not read."""
    global count
    count += 1
    path = h.path("home/tasks/level/t%d" % count)
    os.makedirs(path)
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
        with open(os.path.join(path, name), "w") as file:
            file.write(text)
    return path


def spoil(path, kind, secret):
    """Makes a file one of the ways out; what is named by it is the same name."""
    if os.path.lexists(path):
        os.unlink(path)
    here = os.path.dirname(path)
    target = os.path.join(OUTSIDE, secret)
    if kind == "link":
        os.symlink(target, path)
    elif kind == "relative link":
        os.symlink(os.path.relpath(target, here), path)
    elif kind == "chain":
        os.makedirs(os.path.join(here, "in"))
        os.symlink("in/one", path)
        os.symlink("../two", os.path.join(here, "in/one"))
        os.symlink(target, os.path.join(here, "two"))
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        os.mkdir(path)
    elif kind == "endless":
        os.symlink("/dev/zero", path)
    elif kind == "huge":
        with open(path, "w") as file:
            file.truncate(1 << 33)
    elif kind == "nowhere":
        os.symlink(os.path.join(OUTSIDE, "no such file"), path)


KINDS = ["link", "relative link", "chain", "pipe", "directory", "endless", "huge", "nowhere"]
SAYS = ("does not lie inside", "not a regular file", "it is a directory", "more than the", "control characters", "No such file", "is empty",
        "has no task.toml", "is not a task")


def refused(what, words, code=2):
    done = h.run(*words)
    text = done.stdout + done.stderr
    h.check(not any(leak in text for leak in LEAK), "%s: the secret is told" % what, done)
    h.check(done.returncode == code and any(words in text for words in SAYS), "%s is refused" % what, done)
    return done


# The files that a format has, and which of them may be taken for another.
FIXTURE = {"prompt.txt": "doubles, fp32\n", "reference.py": GOOD, "shapes.yaml": "- [64]\n- [128]\n", "notes.md": "none\n"}
FORMATS = [
    ("task folder", {"task.toml": TOML % "", "reference.py": GOOD, "prompt.txt": "doubles\n"},
     {"task.toml": "secret.txt", "reference.py": "secret.py", "prompt.txt": "secret.txt"}),
    ("fixture", FIXTURE, {"prompt.txt": "secret.txt", "reference.py": "secret.py", "shapes.yaml": "secret.txt"}),
    ("robust-kbench", {"func_forward.py": MODEL, "config_forward.json": CONFIG},
     {"func_forward.py": "secret.py", "config_forward.json": "config.json"}),
]
for name, files, spoilt in FORMATS:
    done = h.run("describe", folder(files))
    h.check(done.returncode == 0, "a plain %s is read" % name, done)
    for file, secret in spoilt.items():
        for kind in KINDS:
            # What nothing is there for is another format, or a part that need not be there.
            path = folder(files)
            spoil(os.path.join(path, file), kind, secret)
            if kind == "nowhere" and file in ("task.toml", "func_forward.py", "config_forward.json", "shapes.yaml", "prompt.txt", "reference.py"):
                done = h.run("describe", path)
                h.check(done.returncode in (0, 2) and not any(leak in done.stdout + done.stderr for leak in LEAK), "%s: %s nowhere" % (name, file), done)
                continue
            refused("%s: %s as %s" % (name, file, kind), ["describe", path])

# What task.toml says.
for key, secret in (("reference", "secret.py"), ("prompt", "secret.txt")):
    for value in ("../../../" + secret, "sub/../../../../" + secret, os.path.join(OUTSIDE, secret), "/dev/zero", "/etc/passwd", "..", ".",
                  "sub", "", "with\\u0000nul", "with\\nnewline", "x" * 5000, "link/" + secret):
        path = folder({"task.toml": TOML % ('%s = "%s"\n' % (key, value)), "reference.py": GOOD, "sub/x": ""})
        os.symlink(OUTSIDE, os.path.join(path, "link"))
        refused("%s = %s" % (key, value[:60]), ["describe", path])
    path = folder({"task.toml": TOML % ('%s = "sub/../sub/file"\n' % key), "reference.py": GOOD, "sub/real": GOOD})
    os.symlink("real", os.path.join(path, "sub/file"))
    done = h.run("describe", path)
    h.check(done.returncode == 0, "%s beneath the folder, through a link that stays, is read" % key, done)
    inside = folder({"reference.py": GOOD, "sub/real": GOOD})
    with open(os.path.join(inside, "task.toml"), "w") as file:
        file.write(TOML % ('%s = "%s/sub/real"\n' % (key, inside)))
    h.check(h.run("describe", inside).returncode == 0, "%s as an absolute path inside is read" % key)

# The same through every command that takes a task.
path = folder({"task.toml": TOML % 'reference = "../../../secret.py"\n'})
for words in (["lint", path], ["verify", "x.cu", "--reference", path], ["synthesize", "--reference", path, "--device", "vgpu"],
              ["evolve", path, "--device", "vgpu"]):
    done = h.run(*words, timeout=120)
    h.check(done.returncode != 0 and not any(leak in done.stdout + done.stderr for leak in LEAK), "%s reads nothing outside" % words[0], done)
# A folder may be reached through a link: who names it means it.
os.symlink(folder({"task.toml": TOML % "", "reference.py": GOOD}), h.path("named"))
h.check(h.run("describe", h.path("named")).returncode == 0, "a folder named through a link")

# Suites: folders of tasks and of Python files.
for kind, make in {
        "a linked file": lambda suite: os.symlink(os.path.join(OUTSIDE, "secret.py"), os.path.join(suite, "two.py")),
        "a linked folder": lambda suite: os.symlink(OUTSIDE, os.path.join(suite, "two")),
        "a linked folder below": lambda suite: os.symlink("../../../..", os.path.join(suite, "sub", "two")),
        "a name of two lines": lambda suite: shutil.copy(os.path.join(suite, "one.py"), os.path.join(suite, "a\nPASSED.py"))}.items():
    suite = folder({"one.py": MODEL, "sub/three.py": MODEL})
    make(suite)
    refused("suite: " + kind, ["screen", suite])
    refused("suite: " + kind, ["eval", "--suite", suite, "--out", h.path("out%d" % count), "--yes"])

# An evaluation's folder that leads elsewhere is not written to.
suite = folder({"one.py": MODEL})
for number, name in enumerate(("kernels", "suite", "artifacts", "eval.json", "results.csv", "summary.md")):
    out, victim = h.path("eval%d" % number), h.path("victim%d" % number)
    os.makedirs(out)
    if "." in name:
        h.write(os.path.basename(victim), "kw-private")
    else:
        os.makedirs(victim)
    os.symlink(victim, os.path.join(out, name))
    done = h.run("eval", "--suite", suite, "--out", out, "--yes", "--time", "1s", "--candidates", "1", "--device", "vgpu", "--quick")
    kept = open(victim).read() == "kw-private" if os.path.isfile(victim) else os.listdir(victim) == []
    h.check(kept and done.returncode != 0, "an evaluation's %s that is a link is not written through" % name, done)
done = h.run("screen", folder({"one.py": MODEL}), "--json")
h.check(done.returncode == 0 and len(json.loads(done.stdout)["files"]) == 1, "a plain suite is read", done)
h.finish()
