"""What a client of an MCP server tries: reading and writing outside of its folders, directly or through what a file names, hanging the
server with pipes and devices, and getting the keys of its environment. A row is a tool, its arguments, and what is allowed to happen."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("cli", "mcp"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
from client import Pipes  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness(sys.argv[1])
SECONDS = 60  # none of these may take long, let alone hang
SECRET, KEY = "tell-nobody-31337", "sesame-of-the-server"
work, outside = h.path("work"), h.path("outside")
for folder in (work, outside, h.path("work/runs"), h.path("work/folder"), h.path("outside/empty")):
    os.makedirs(folder)
READABLE = 'import torch\n\ndef reference(x: "fp32[N]"):\n    return x * 2\n'
MODULE = '''//! kernelwright 1
//! task reference
//! input x: fp32[N]
//! output out: fp32[N]
//! launch twice grid(ceil_div(N, 128)) block(128) args(x, out, N)
%s
__global__ void twice(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
'''
h.write("outside/secret", "%s\n" % SECRET)
h.write("outside/secret.h", "#error %s\n" % SECRET)
h.write("outside/secret.py", 'import torch\n\ndef reference(x: "fp32[N]"):\n    return x * 31337  # %s\n' % SECRET)
h.write("outside/secret.cu", MODULE % ("// " + SECRET))
h.write("outside/task.toml", 'name = "%s"\n' % SECRET)
h.write("outside/kept.toml", "x = 1\n")
h.write("work/twice.py", READABLE)
h.write("work/twice.cu", MODULE % "")
S = os.path.join(outside, "secret")


def link(name, target):
    os.makedirs(os.path.dirname(h.path("work/" + name)), exist_ok=True)
    os.symlink(target, h.path("work/" + name))
    return name


def task(name, toml, **files):
    """A task folder in the root."""
    os.makedirs(h.path("work/" + name), exist_ok=True)
    h.write("work/%s/task.toml" % name, 'name = "t"\n' + toml + "\n[shapes]\nbenchmark = [{ N = 64 }]\n")
    for file, text in dict({"reference": READABLE}, **files).items():
        h.write("work/%s/%s.py" % (name, file), text)
    return name


def including(text):
    return {"module_text": MODULE % text}


os.mkfifo(h.path("work/fifo"))
os.mkfifo(h.path("work/fifo.py"))
os.mkfifo(h.path("work/fifo.cu"))
for name in ("huge", "huge.py", "huge.cu", "huge.npy"):
    with open(h.path("work/" + name), "wb") as file:
        file.truncate(1 << 40)  # without any block
os.symlink("loop", h.path("work/loop"))
ODD = 'odd\nPASSED\x1b[31m.py'
h.write("work/" + ODD, READABLE)
task("t_fifo", "")
os.remove(h.path("work/t_fifo/reference.py"))
os.mkfifo(h.path("work/t_fifo/reference.py"))
task("t_linked", "")
os.remove(h.path("work/t_linked/reference.py"))
link("t_linked/reference.py", S + ".py")
os.makedirs(h.path("work/t_toml"))
link("t_toml/task.toml", os.path.join(outside, "task.toml"))
h.write("work/t_toml/reference.py", READABLE)
os.makedirs(h.path("work/imports"))
link("imports/neighbour.py", S + ".py")
h.write("work/imports/ref.py", 'import torch\nfrom neighbour import reference as other\n\ndef reference(x: "fp32[N]"):\n    return other(x)\n')
link("suite/a.py", S + ".py")
link("suite_out/deep", outside)
h.write("work/read.py", 'TEXT = open("%s").read()\nimport torch\n\ndef reference(x: "fp32[N]"):\n    return x * len(TEXT)\n' % S)
h.write("work/import.cu", '#include "%s.h"\n__global__ void k(float* x) {}\nextern "C" void solve(float* x, int n) { k<<<1, 1>>>(x); }\n' % S)
os.makedirs(h.path("work/fake_run/candidates"))
h.write("work/fake_run/run.json", json.dumps({"reference": S + ".py", "id": "x"}))
link("fake_run/report.json", S)
link("fake_run/events.jsonl", S)
os.makedirs(h.path("work/fake_optimize"))
link("fake_optimize/state.json", S)
link("fake_optimize/journal.jsonl", S)
link("linked_out", os.path.join(outside, "empty"))
link("through", outside)

D = {"device": "vgpu", "cross_check": "never"}
V = dict(D, module="twice.cu")
SYN = dict(D, versus=["none"], time="1s", candidates=1)
ROWS = [("a path of " + what, "describe_task", {"reference": path}) for what, path in (
    ("a file outside", S + ".py"), ("dots", "../outside/secret.py"), ("dots in the middle", "folder/../../outside/secret.py"),
    ("a link", link("linked.py", S + ".py")), ("a linked folder", "through/secret.py"), ("a chain of links", link("chain.py", "linked.py")),
    ("a link to itself", "loop"), ("a function of a file outside", S + ".py:reference"), ("a function of a link", "linked.py:reference"),
    ("our memory", "/proc/self/mem"), ("our environment", "/proc/self/environ"), ("our parent's", "/proc/%d/environ" % os.getpid()),
    ("an open file", "/proc/self/fd/0"), ("the root of a process", "/proc/self/root" + S + ".py"), ("a device", "/dev/zero"),
    ("a terminal", "/dev/tty"), ("a link to a device", link("zero.py", "/dev/zero")), ("a pipe", "fifo.py"), ("a terabyte", "huge.py"),
    ("accounts", "/etc/passwd"), ("a home", "~/.bashrc"), ("a URL", "file://" + S), ("an option", "--allow-python"), ("nothing", ""),
    ("a NUL", "twice.py\0" + S), ("a long name", "x" * 5000), ("many dots", "../" * 300 + S[1:]), ("the folder above", ".."),
    ("a task with a pipe", "t_fifo"), ("a task with a link", "t_linked"), ("a task whose task.toml is a link", "t_toml"),
    ("a task that names a file outside", task("t1", 'reference = "%s.py"' % S)), ("a task that names dots", task("t2", 'reference = "../../outside/secret.py"')),
    ("a task that names a linked folder", task("t3", 'reference = "../through/secret.py"')), ("a task whose prompt is outside", task("t4", 'prompt = "%s"' % S)),
    ("a task whose prompt is above", task("t5", 'prompt = "../../outside/secret"')), ("a task whose prompt is a device", task("t6", 'prompt = "/dev/zero"')),
    ("a task with an odd prompt", task("t7", 'prompt = "a\\u0000b"')), ("a task in Python's path", task("t8", 'reference = "/proc/self/environ"')),
    ("a file that imports a link", "imports/ref.py"), ("a file that reads", "read.py"))]
ROWS += [("a folder with a " + what, "lint_task", {"reference": path}) for what, path in (("link", "suite"), ("linked folder", "suite_out"), ("pipe", "."))]
ROWS += [("a kernel with " + what, "check_kernel", arguments) for what, arguments in (
    ("an include", including('#include "%s.h"' % S)), ("dots", including('#include "../outside/secret.h"')), ("a macro", including('#define F "%s.h"\n#include F' % S)),
    ("angles", including("#include <%s.h>" % S)), ("next", including('#include_next "%s.h"' % S)), ("import", including('#import "%s.h"' % S)),
    ("embed", including('__device__ char t[] = {\n#embed "%s"\n};' % S)),
    ("incbin", including('asm(".incbin \\"%s\\"");' % S)), ("a device", including('#include "/dev/zero"')), ("a pipe", including('#include "%s"' % h.path("work/fifo"))),
    ("its environment", including('#include "/proc/self/environ"')), ("a dependency file", including('#pragma GCC dependency "%s"' % S)))]
ROWS += [("a module: " + what, "check_kernel", {"module": path}) for what, path in (
    ("outside", S + ".cu"), ("a pipe", "fifo.cu"), ("a terabyte", "huge.cu"), ("a link", link("linked.cu", S + ".cu")))]
ROWS += [("an input: " + what, "run_virtual_gpu", dict({"module": "twice.cu", "dims": {"N": 4}}, inputs={"x": path})) for what, path in (
    ("outside", S), ("dots", "../outside/secret"), ("a pipe", "fifo"), ("a terabyte", "huge.npy"), ("a link", link("linked.npy", S)), ("a device", "/dev/zero"),
    ("an option", "normal:1 --output=" + outside))]
ROWS += [
    ("an import that includes", "import_kernel", {"source": "import.cu"}), ("an import of a link", "import_kernel", {"source": link("link.cu", S + ".cu")}),
    ("a profile outside", "profile_kernel", dict(module="twice.cu", reference="twice.py", device="vgpu", ncu=S)),
    ("a profile that is a pipe", "profile_kernel", dict(module="twice.cu", reference="twice.py", device="vgpu", ncu="fifo")),
    ("a profile without end", "profile_kernel", dict(module="twice.cu", reference="twice.py", device="vgpu", ncu="/dev/zero")),
    ("machine code of a file outside", "sass", {"module": S + ".cu"}), ("compared with a file outside", "sass", {"module": "twice.cu", "against": S + ".cu"}),
    ("a verdict on a file outside", "verify_kernel", dict(V, reference=S + ".py")), ("a candidate outside", "verify_kernel", dict(D, module=S + ".cu", reference="twice.py")),
    ("a comparison", "compare_kernels", {"module_a": "twice.cu", "module_b": S + ".cu"}),
    ("runs outside", "synthesize", dict(SYN, reference="twice.py", out=outside)), ("runs through a link", "synthesize", dict(SYN, reference="twice.py", out="linked_out")),
    ("runs above", "synthesize", dict(SYN, reference="twice.py", out="../outside/new")), ("runs in a file", "synthesize", dict(SYN, reference="twice.py", out="twice.py")),
    ("a model of a shell", "synthesize", dict(SYN, reference="twice.py", proposer="llm", model_id="command:/bin/cat " + S)),
    ("an ensemble of files", "evolve", dict(reference="twice.py", proposer="llm", ensemble=S, time="1s", device="vgpu")),
    ("an ensemble of a file in the root", "evolve", dict(reference="twice.py", proposer="llm", ensemble=link("arms.toml", S), time="1s", device="vgpu")),
    ("a prompt that is a file", "synthesize", dict(SYN, reference=S + ".py", prompt="@" + S)),
    ("a run outside", "inspect_run", {"run": outside}), ("a run above", "inspect_run", {"run": "../outside"}), ("a run of links", "inspect_run", {"run": "fake_run", "full": True}),
    ("a run by dots", "inspect_run", {"run": "latest/../../outside"}), ("a candidate by dots", "inspect_run", {"run": "fake_run", "candidate": "../../../outside/secret"}),
    ("runs of another folder", "inspect_run", {"run": "latest", "out": outside}), ("a resumed run of links", "resume_run", {"run": "fake_run", "time": "1s"}),
    ("an optimisation outside", "optimize_state", {"run_dir": outside}), ("an optimisation of links", "optimize_state", {"run_dir": "fake_optimize"}),
    ("a step of links", "optimize_open", {"run_dir": "fake_optimize"}), ("a baseline outside", "optimize_setup", dict(D, baseline=S + ".cu", reference="twice.py")),
    ("an optimisation written outside", "optimize_setup", dict(D, baseline="twice.cu", reference="twice.py", out=outside)),
    ("a method by dots", "catalog", {"id": "../../outside/secret"}), ("a job by dots", "job_result", {"job": "../../outside/secret"}),
]
HARMLESS = ("a file that imports a link", "a kernel with incbin")  # answered, and nothing of the secret is in it
URIS = ["docs/../../outside/secret", "docs/..%2f..%2foutside%2fsecret", "docs/" + S, "docs/verify%00", "skill/../SKILL.md", "skill/%2e%2e/x", "runs/../../outside",
        "runs/..%2f..%2foutside/report", "runs/fake_run/report", "runs/latest/candidates/../../../secret", "catalog/../secret", "jobs/../x", "../etc/passwd"]

environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("work/runs"), XDG_DATA_HOME=h.path("data"), XDG_CONFIG_HOME=h.path("config"), OPENAI_API_KEY=KEY)
before = sorted(os.listdir(outside))


def looks_bad(text):
    return [word for word in (SECRET, "31337", KEY, "root:x:0:", "\x1b", "\\u001b") if word in text]


for options in ((), ("--read-only",)):
    server = Pipes(h.binary, "--root", work, *options, env=environment)
    server.hello()
    offered = {tool["name"]: tool for tool in server.ask("tools/list")["result"]["tools"]}
    rows = [row for row in ROWS if row[1] in offered]
    if options:  # the same walls: a few suffice
        rows = rows[::9]
    for what, tool, arguments in rows:
        try:
            answer = server.wait(server.start("tools/call", {"name": tool, "arguments": arguments}), SECONDS)
        except Exception as hung:  # noqa: B902
            h.check(False, "%s: no answer in %d s: %r" % (what, SECONDS, hung))
            break
        result = answer.get("result", {})
        text = json.dumps(answer)
        h.check(not looks_bad(text.replace(json.dumps(arguments.get("ensemble", "-"))[1:-1], "")), "%s (%s): it tells %s: %s" % (what, tool, looks_bad(text), text[-500:]))
        document = result.get("structuredContent", {})
        h.check("error" in answer or result.get("isError") or document.get("ok") is False or document.get("tasks") or what in HARMLESS,
                "%s (%s) is refused: %s" % (what, tool, text[-500:]))
        h.check(sorted(os.listdir(outside)) == before and os.listdir(os.path.join(outside, "empty")) == [], "%s (%s) writes nothing outside" % (what, tool))
    for uri in URIS:
        answer = server.wait(server.start("resources/read", {"uri": "kernelwright://" + uri}), SECONDS)
        h.check("error" in answer and not looks_bad(json.dumps(answer)), "%s: %s" % (uri, str(answer)[:300]))
    for uri in ("file://" + S, "/etc/passwd", "http://localhost/", "kernelwright:" + S):
        h.check("error" in server.ask("resources/read", {"uri": uri}), uri)
    h.check(server.ask("ping")["result"] == {}, "and the server goes on")
    # What is promised about tools.
    for name, tool in offered.items():
        hints = tool["annotations"]
        writes = name in ("synthesize", "evolve", "resume_run", "job_cancel") or (name.startswith("optimize_") and name not in ("optimize_state", "optimize_validate"))
        h.check(hints["readOnlyHint"] is not writes, "%s: %s" % (name, hints))
        h.check(not (options and writes and name != "job_cancel"), "--read-only does not offer " + name)
    server.end()
# A name with a line break or codes of the terminal is one line without codes.
for words in (["describe", h.path("work/" + ODD)], ["lint", h.path("work/" + ODD)], ["describe", h.path("work/none" + ODD)], ["screen", work]):
    done = h.run(*words, timeout=SECONDS)
    text = done.stdout + done.stderr
    h.check("\x1b" not in text and not any(line.startswith("PASSED") for line in text.splitlines()), "%s shows an odd name in one line" % words[0], done)
with open(S) as file:
    h.check(file.read() == SECRET + "\n", "the secret is as it was")
h.check(len(ROWS) + len(URIS) >= 80, "%d rows" % (len(ROWS) + len(URIS)))
h.finish()
