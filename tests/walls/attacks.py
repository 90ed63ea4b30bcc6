"""Every attempt of attempts.py behind the walls of every kind of process; none succeeds but those that a kind needs. The same attempts
without walls prove that they can succeed. Where a wall is missing, no process is started unless the user names its kind.

docs/walls.md holds the table; KW_UPDATE_GOLDEN=1 writes it."""
import ctypes
import json
import os
import platform
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import ROOT, Harness, skip  # noqa: E402

h = Harness(sys.argv[1])
DOC = os.path.join(ROOT, "docs", "walls.md")
PYTHON = os.path.realpath("/usr/bin/python3")
if not os.path.exists(PYTHON):
    skip("no /usr/bin/python3")
if json.loads(h.run("doctor", "--json").stdout)["tools"]["walls"]["state"] != "found":
    skip("this machine has not all walls")

FORKS, PROGRAMS = {"fork", "take over orphans"}, {"start a shell", "become another program"}
DEVICES = {"memory that no limit of a process counts", "files in memory without a limit", "read the words another process was started with"}
KINDS = {  # what each kind needs for its work
    "compiler-library": set(), "compiler-program": FORKS | PROGRAMS, "disassembler": FORKS | PROGRAMS, "parser": set(), "recorder": set(),
    "python-recorder": FORKS, "tuner": FORKS | PROGRAMS | DEVICES, "torch": FORKS, "torch-gpu": FORKS | DEVICES,
    "torch-baseline": FORKS | PROGRAMS | DEVICES, "gpu-worker": DEVICES,
}

base = tempfile.mkdtemp(prefix="kw_walls_")
for name in ("private", "own", "readable"):
    os.mkdir(os.path.join(base, name))
place = {"secret": base + "/private/secret", "private": base + "/private", "own": base + "/own", "readable": base + "/readable/file",
         "socket": base + "/private/socket", "datagrams": base + "/private/datagrams", "parent": os.getpid()}
listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listening.bind(place["socket"])
listening.listen(64)
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
datagrams.bind(place["datagrams"])
environment = dict(h.environment, LD_LIBRARY_PATH=base + "/readable", OPENAI_API_KEY="sesame-1", HF_TOKEN="sesame-2")
with open(os.path.join(HERE, "attempts.py"), encoding="utf-8") as file:
    TEXT = file.read()


def fill():
    for path in (place["secret"], base + "/private/spare", base + "/private/spare2", place["readable"]):
        with open(path, "w", encoding="utf-8") as file:
            file.write("do not touch")
    for path in ("moved", "made", "folder", "pipe"):
        path = os.path.join(place["private"], path)
        os.path.isdir(path) and os.rmdir(path)
        os.path.lexists(path) and os.remove(path)


def attempt(start, **more):
    fill()
    return subprocess.run([*start, PYTHON, "-I", "-S", "-c", TEXT, json.dumps(place)], env=environment, capture_output=True, text=True, check=False, **more)


def behind(kind):
    return [h.binary, "behind-walls", kind, place["own"], "--"]


ran = attempt([])
without = json.loads(ran.stdout)
tried = without["tried"]
names = [name for name, _ in tried]
h.check(len(set(names)) == len(names) >= 100, "at least 100 attempts, each once: %d" % len(names))
least = 60 if os.geteuid() == 0 else 40
h.check(len(without["could"]) >= least, "without walls they succeed: all but %s" % sorted(set(names) - set(without["could"])), ran)
for kind, needs in KINDS.items():
    ran = attempt(behind(kind))
    h.check(ran.returncode == 0 and ran.stdout.startswith("{"), "%s: the attempts were made" % kind, ran)
    could = set(json.loads(ran.stdout)["could"]) if ran.stdout.startswith("{") else set()
    h.check(could <= needs, "%s: nothing goes through: %s" % (kind, sorted(could - needs)), ran)
    h.check(needs <= could, "%s: the table says what it may do: %s" % (kind, sorted(needs - could)), ran)
    with open(place["secret"], encoding="utf-8") as file:
        h.check(file.read() == "do not touch", "%s: files are as they were" % kind)


# --- a kernel without Landlock: a filter answers its calls as an older kernel does ---
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


def without_landlock():
    steps = b"".join(struct.pack("HBBI", *step) for step in (
        (0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)))  # 38: ENOSYS
    buffer = ctypes.create_string_buffer(steps)
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, ctypes.byref(Program(4, ctypes.addressof(buffer)))) != 0:
        os._exit(99)


def old_kernel(*words, env=environment):
    return subprocess.run([h.binary, *words], env=env, capture_output=True, text=True, check=False, preexec_fn=without_landlock, cwd=h.folder)


for kind in KINDS:
    ran = attempt(behind(kind), preexec_fn=without_landlock)
    h.check(ran.returncode == 3 and "is not started" in ran.stderr and "this kernel has no Landlock" in ran.stderr and "--unconfined" in ran.stderr
            and not ran.stdout, "%s is refused with words where a wall is missing" % kind, ran)
doctor = old_kernel("doctor", "--json")
row = json.loads(doctor.stdout)["tools"]["walls"]
h.check(row["state"] == "limited" and "files: this kernel has no Landlock" in row["note"], "doctor shows what is missing", doctor)
reference = h.write("ref.py", 'import torch\n\ndef reference(x: "fp32[N]"):\n    return torch.relu(x)\n')
done = old_kernel("describe", reference)
h.check(done.returncode == 3 and "--unconfined parser" in done.stderr, "a command stops with exit code 3", done)
done = old_kernel("describe", reference, "--unconfined", "parser")
h.check(done.returncode == 0 and "run without walls, and verdicts record it: parser" in done.stderr, "it goes on where the user says so", done)
done = old_kernel("describe", reference, "--unconfined", "torch")
h.check(done.returncode == 3, "another kind is not meant", done)
done = old_kernel("describe", reference, env=dict(environment, KERNELWRIGHT_UNCONFINED="parser"))
h.check(done.returncode == 0 and "without walls" in done.stderr, "the variable says the same, and the user is told", done)
module, ref = (os.path.join(ROOT, "examples", "rms_norm" + end) for end in (".cu", ".py"))
done = old_kernel("verify", module, "--reference", ref, "--device", "vgpu", "--dims", '{"B": 2, "D": 32}', "--cross-check", "never", "--json",
                  "--unconfined", "compiler,parser", env=dict(environment, KERNELWRIGHT_CACHE=h.path("cold")))
verdict = json.loads(done.stdout) if done.stdout.startswith("{") else {}
if "NVRTC" not in done.stdout and done.returncode == 3:
    print("skipped: no compiler, so no verdict")
else:
    h.check(verdict.get("unconfined") == ["compiler", "parser"], "the verdict records it", done)

# --- keys leave the environment block of the program, which its user and root can read ---
server = subprocess.Popen([h.binary, "mcp"], env=environment, cwd=h.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
server.stdin.write(json.dumps(hello).encode() + b"\n")
server.stdin.flush()
h.check(b"serverInfo" in server.stdout.readline(), "the server answers")
try:
    with open("/proc/%d/environ" % server.pid, "rb") as file:
        block = file.read()
    h.check(b"PATH=" in block and b"sesame" not in block, "keys are wiped from the block")
except PermissionError:
    pass  # not dumpable, and this is not root
server.stdin.close()
server.wait()

# --- the table of the documentation ---
rows = ["| tried | stopped by | needed and allowed in |", "|---|---|---|"]
rows += ["| %s | %s | %s |" % (name, wall, ", ".join(kind for kind, needs in KINDS.items() if name in needs)) for name, wall in tried]
table = "\n".join(rows)
with open(DOC, encoding="utf-8") as file:
    text = file.read()
BEGIN, END = "<!-- attempts: begin (written by KW_UPDATE_GOLDEN=1 python3 -B tests/walls/attacks.py BINARY) -->\n", "\n<!-- attempts: end -->"
before, rest = text.split(BEGIN)
inside, after = rest.split(END)
if os.environ.get("KW_UPDATE_GOLDEN") == "1":
    with open(DOC, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table + END + after)
else:
    h.check(inside == table, "the table of docs/walls.md is this one; KW_UPDATE_GOLDEN=1 writes it")
shutil.rmtree(base, ignore_errors=True)
print("%d attempts behind the walls of %d kinds; %d of them succeed without walls" % (len(tried), len(KINDS), len(without["could"])))
h.finish()
