"""What others rely on, frozen: generated modules, help, schemas, JSON of commands, run folders, names of the Python package.

    frozen.py KERNELWRIGHT SHOW_MODULE [--dump FOLDER]

Each item is a text; its name and hash stand in manifest.txt. KW_UPDATE_GOLDEN=1 writes the manifest again: the diff, and the texts
that --dump writes before and after, are the review. What differs from run to run (times, folders, versions) is replaced first.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import Harness, ROOT, skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(ROOT)
MANIFEST = HERE / "manifest.txt"
# Members of JSON whose values are another time's or another machine's; their names are frozen all the same.
CHANGING = re.compile(r"(^|_)(created|when|README\.md|us|ms|seconds|time|at|date|started|finished|elapsed|version|id|host|digest|hash|bytes_read|pid|threads"
                      r"|log|toolchain|compiler|driver|environment|cubin|sass)$")
REFERENCES = ("tests/codegen/golden", "tests/frontend/agree", "tests/frontend/kernelbench", "tests/schedules/references",
              "suites/internal", "suites/extended", "suites/kernelbench", "suites/ops", "suites/robust")
h = Harness(sys.argv[1])
if h.compiler() != "nvrtc":
    skip("what compilers say is frozen for NVRTC alone")
show = os.path.abspath(sys.argv[2])
environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs"))


def plain(text):
    """Without what only this run has."""
    text = text.replace(h.folder, "<folder>").replace(ROOT, "<root>")
    text = re.sub(r"\d{8}-\d{6}-\w+-[0-9a-f]{12}", "<run>", text)
    return re.sub(r"\d+(\.\d+)? (m?s|us|seconds)\b", "<time>", text)


def shape(value, key=""):
    """A JSON value as it is frozen."""
    if isinstance(value, dict):
        run = "folder" in value  # whose size depends on how its times are written
        return {name: "<int>" if run and name == "bytes" else shape(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one, key) for one in value]
    if CHANGING.search(key) and value is not None:
        return "<%s>" % type(value).__name__
    if key == "from_cache":  # tests share one
        return False
    if isinstance(value, float):
        return float("%.6g" % value)
    return plain(value) if isinstance(value, str) else value


def call(*words):
    done = subprocess.run([h.binary, *words], env=environment, cwd=h.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    text = done.stdout
    if "--json" in words and text:
        text = json.dumps(shape(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    return "exit %d\n%s" % (done.returncode, plain(text))


def modules():
    """Every reference, every design."""
    paths = sorted(path for folder in REFERENCES for path in (SOURCE / folder).glob("*")
                   if path.suffix == ".py" or (path / "task.toml").exists())

    def one(path):
        words = []
        if path.suffix == ".py":
            first = path.read_text().split("\n", 1)[0]
            words = first[len("# options: "):].split() if first.startswith("# options: ") else []
        done = subprocess.run([show, str(path), "--all", *words], capture_output=True, text=True)
        return "module %s" % path.relative_to(SOURCE), "exit %d\n%s%s" % (done.returncode, plain(done.stdout), plain(done.stderr))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield from pool.map(one, paths)


def texts():
    listed = re.findall(r"^  ([a-z-]+) ", call("help"), re.M)
    yield "help", call("help")
    for name in listed:
        yield "help " + name, call("help", name)
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "frozen", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    asked += [{"jsonrpc": "2.0", "id": 2 + i, "method": method} for i, method in enumerate(("tools/list", "prompts/list"))]
    done = subprocess.run([h.binary, "mcp", "--root", ROOT], env=environment, capture_output=True, text=True,
                          input="".join(json.dumps(one) + "\n" for one in asked))
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer["id"] > 1:
            yield "mcp %s" % answer["id"], json.dumps(answer, indent=1, sort_keys=True)
    code = ("import inspect, kernelwright as k\n"
            "for n in sorted(k.__all__):\n"
            "  o = getattr(k, n)\n"
            "  print(n, inspect.signature(o) if callable(o) and not isinstance(o, type) else type(o).__name__)\n"
            "  print(*sorted(m for m in dir(o) if not m.startswith('_')) if isinstance(o, type) else '')\n")
    done = subprocess.run([sys.executable, "-c", code], env=dict(environment, PYTHONPATH=str(SOURCE / "python")), capture_output=True,
                          text=True)
    yield "python names", plain(done.stdout)


def documents():
    """The JSON of commands over a small set of files."""
    good, bug = str(SOURCE / "examples/rms_norm.cu"), str(SOURCE / "examples/rms_norm_bug.cu")
    reference = str(SOURCE / "examples/rms_norm.py")
    vgpu = ["--device", "vgpu", "--compiler", h.compiler()]
    softmax = str(SOURCE / "suites/internal/softmax_lastdim_fp16")
    small = ["--dim", "B=5", "--dim", "D=64"]
    judged = ["--seed", "7", "--cross-check", "never"]
    for name, words in {
            "describe": ["describe", reference], "describe task": ["describe", softmax], "describe nothing": ["describe", "nothing.py"],
            "lint": ["lint", softmax], "check": ["check", good, *vgpu[2:]], "run": ["run", good, *small, *vgpu],
            "run bug": ["run", bug, *small, *vgpu], "verify": ["verify", good, "--reference", reference, *vgpu, *judged],
            "verify bug": ["verify", bug, "--reference", reference, *vgpu, *judged],
            "verify two": ["verify", good, bug, "--reference", reference, *vgpu, *judged],
            "verify nothing": ["verify", "nothing.cu", "--reference", reference],
            "roofline": ["roofline", good, "--reference", reference, *vgpu], "profile": ["profile", good, "--reference", reference, *vgpu],
            "import": ["import", str(SOURCE / "tests/optimize/foreign/softmax/solve.cu"), "--reference",
                                  str(SOURCE / "tests/optimize/foreign/softmax/ref.py"), "--dims", '{"B": 64, "D": 128}'],
            "catalog": ["catalog"], "bad option": ["verify", "--nothing"], "bad command": ["nothing"]}.items():
        yield "json " + name, call(*words, "--json")
    made = call("synthesize", "--reference", softmax, "--candidates", "3", "--time", "600s", "--seed", "7", "--cross-check", "never",
                "--out", h.path("runs"), "--json", *vgpu)
    yield "json synthesize", made
    for words in (["runs"], ["inspect", "latest"], ["inspect", "latest", "--events"]):
        yield "json " + " ".join(words), call(*words, "--out", h.path("runs"), "--json")
    folder = next(pathlib.Path(h.path("runs")).glob("*/report.json"))
    names = sorted(re.sub(r"[0-9a-f]{8,}", "<hash>", str(path.relative_to(folder.parent))) for path in folder.parent.rglob("*"))
    yield "run folder", "\n".join(sorted(set(names)))


found = {}
for source in (texts, documents, modules):
    found.update(source())
if "--dump" in sys.argv:
    folder = pathlib.Path(sys.argv[sys.argv.index("--dump") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in found.items():
        (folder / re.sub(r"[^\w.-]", "_", name)).write_text(text)
lines = ["%s  %s" % (hashlib.sha256(text.encode()).hexdigest()[:16], name) for name, text in found.items()]
if os.environ.get("KW_UPDATE_GOLDEN"):
    MANIFEST.write_text("\n".join(lines) + "\n")
frozen = MANIFEST.read_text().splitlines()
for line in sorted(set(frozen) - set(lines)):
    name = line.split("  ", 1)[1]
    h.check(False, "%s is not what it was%s" % (name, "" if name in found else ": it is gone"))
h.check(len(frozen) > 100, "the manifest is short")
for line in sorted(set(lines) - set(frozen)):
    name = line.split("  ", 1)[1]
    h.check(any(one.endswith("  " + name) for one in frozen), name + " is new: record it")
h.finish()
