"""An MCP server runs no code for its clients: no Python, no host code, no program as a model, unless it was started so.

The Python that would execute references is a trap: a program that leaves a mark when it is started."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("cli", "mcp"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
from client import Pipes  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness(sys.argv[1])
work = h.path("work")
os.makedirs(os.path.join(work, "task"))
mark = h.path("mark")
trap = h.write("trap", "#!/bin/sh\ntouch '%s'\nexit 9\n" % mark)
os.chmod(trap, 0o755)

# Our own reader refuses both: one does not know the function, the other's value decides.
UNKNOWN = 'import torch\n\ndef reference(x: "fp32[B, D]"):\n    return torch.linalg.svdvals(x)\n'
DECIDES = 'import torch\n\ndef reference(x: "fp32[B, D]"):\n    return x if x.sum() > 0 else -x\n'
CANDIDATE = ('import torch\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        open("%s", "w")\n'
             '        return x\n' % mark)
READABLE = 'import torch\n\ndef reference(x: "fp32[N]"):\n    return x * 2\n'
# The launcher's loop is decided by a call, which only running it can tell.
HOST = '''#include <cuda_runtime.h>
#include <cstdlib>
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  int threads = std::getenv("HOME") ? 128 : 256;
  for (int left = n; left > 0; left -= threads * atoi("1000000")) twice<<<(n + threads - 1) / threads, threads>>>(x, y, n);
}
'''
for name, text in (("unknown.py", UNKNOWN), ("decides.py", DECIDES), ("candidate.py", CANDIDATE), ("twice.py", READABLE),
                   ("host.cu", HOST), ("task/reference.py", UNKNOWN)):
    with open(os.path.join(work, name), "w") as file:
        file.write(text)
MODULE = '''//! kernelwright 1
//! task reference
//! input x: fp32[N]
//! output out: fp32[N]
//! launch twice grid(ceil_div(N, 128)) block(128) args(x, out, N)
__global__ void twice(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
'''
with open(os.path.join(work, "twice.cu"), "w") as file:
    file.write(MODULE)
environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs"), KW_TORCH_PYTHON=trap)


def open_server(*options):
    server = Pipes(h.binary, "--root", work, *options, env=environment)
    server.hello()
    return server


def said(result):
    return json.dumps(result.get("structuredContent", {})) + "".join(part.get("text", "") for part in result["content"])


def sprung():
    there = os.path.exists(mark)
    if there:
        os.remove(mark)
    return there


def calls(server):
    """Every tool that takes a reference, with one that our reader refuses: as text, as a file, as a folder."""
    for tool in server.ask("tools/list")["result"]["tools"]:
        properties = tool["inputSchema"]["properties"]
        if "reference" not in properties:
            continue
        fixed = {"module": "twice.cu"} if "module" in properties else {}
        if "module_a" in properties:
            fixed = {"module_a": "twice.cu", "module_b": "twice.cu"}
        if "source" in properties:
            fixed = {"source": "host.cu"}
        if "run" in properties:
            fixed = {"run": "latest"}
        if "baseline" in properties:
            fixed = {"baseline": "twice.cu"}
        texts = [("reference_text", UNKNOWN), ("reference_text", DECIDES)] if "reference_text" in properties else []
        for name, value in texts + [("reference", "unknown.py"), ("reference", "task")]:
            yield tool["name"], dict(fixed, **{name: value})


# --- Python ---
for options in ((), ("--read-only",)):
    server = open_server(*options)
    told = 0
    for tool, arguments in calls(server):
        answer = server.call(tool, **arguments)
        h.check(not sprung(), "%s %s runs no Python for %s" % (options, tool, arguments))
        told += "--allow-python" in said(answer)
    h.check(told >= 10, "%s: most answers name the switch (%d do)" % (options, told))
    answer = said(server.call("describe_task", reference_text=UNKNOWN))
    h.check("svdvals" in answer and "--allow-python" in answer and "install torch" not in answer,
            "what our reader says, and the switch: %s" % answer)
    judge = {"module": "twice.cu", "reference": "twice.py", "device": "vgpu"}
    if h.run("doctor", "--has", "clang").returncode == 0 or h.run("doctor", "--has", "nvrtc").returncode == 0:
        answer = said(server.call("verify_kernel", **judge))
        h.check('"passed"' in answer and "--allow-python" in answer and not sprung(), "judged, not cross-checked: %s" % answer[-600:])
    answer = said(server.call("verify_kernel", **dict(judge, cross_check="always")))
    h.check("--allow-python" in answer and not sprung(), "no cross-check by force: %s" % answer[-600:])
    answer = said(server.call("verify_kernel", **dict(judge, module="candidate.py", cross_check="never")))
    h.check("--allow-python" in answer and not sprung(), "no Python candidate: %s" % answer[-600:])
    answer = said(server.call("verify_kernel", **dict(judge, module="host.cu", cross_check="never")))
    h.check("--allow-host-code" in answer, "no host code: %s" % answer[-600:])
    server.end()

# --- programs as models ---
shell = "command:/bin/sh -c 'touch %s'" % mark
server = open_server()
for tool, arguments in (("synthesize", {"proposer": "llm", "model_id": shell}),
                        ("synthesize", {"proposer": "hybrid", "model_id": shell, "time": "1s", "candidates": 1}),
                        ("evolve", {"proposer": "llm", "ensemble": shell, "generations": 1}),
                        ("evolve", {"proposer": "hybrid", "ensemble": "openai:gpt-5," + shell, "generations": 1, "time": "5s"})):
    answer = said(server.call(tool, reference="twice.py", device="vgpu", versus=["none"], cross_check="never", **arguments))
    h.check(not sprung(), "%s %s starts no program" % (tool, arguments))
    h.check("--allow-commands" in answer, "%s %s names the switch: %s" % (tool, arguments, answer[-600:]))
server.end()
# A run that its owner began with such a model is not continued either.
begun = h.run("synthesize", "--reference", os.path.join(work, "twice.py"), "--proposer", "llm", "--model-id", "command:/bin/echo", "--device", "vgpu",
              "--versus", "none", "--cross-check", "never", "--out", h.path("runs"), env={"KW_TORCH_PYTHON": trap})
server = open_server()
answer = said(server.call("resume_run", run="latest"))
h.check("--allow-commands" in answer or begun.returncode == 3, "a resumed run starts no program: %s" % answer[-600:])
server.end()

# --- what is promised is true, with and without the switches ---
server = open_server()
rows = {tool["name"]: tool for tool in server.ask("tools/list")["result"]["tools"]}
server.end()
h.check(rows["describe_task"]["annotations"]["readOnlyHint"] is True and "never run" in rows["describe_task"]["description"],
        "describe_task reads: %s" % rows["describe_task"])
for name in ("synthesize", "evolve", "resume_run"):
    h.check(rows[name]["annotations"]["openWorldHint"] is True, name + " may ask a model over the network")
h.check(rows["catalog"]["annotations"]["openWorldHint"] is False, "catalog asks nothing")
server = open_server("--allow-python", "--allow-host-code", "--allow-commands")
rows = {tool["name"]: tool for tool in server.ask("tools/list")["result"]["tools"]}
for name in ("describe_task", "lint_task", "verify_kernel", "import_kernel"):
    h.check(rows[name]["annotations"]["readOnlyHint"] is False and "runs the reference's Python" in rows[name]["description"],
            "%s may run code: %s" % (name, rows[name]["annotations"]))
h.check(rows["catalog"]["annotations"]["readOnlyHint"] is True, "catalog still only reads")

# --- the traps are real: with the switches they spring ---
server.call("describe_task", reference_text=UNKNOWN)
h.check(sprung(), "--allow-python asks the Python")
server.call("synthesize", reference="twice.py", proposer="llm", model_id=shell, device="vgpu", versus=["none"], cross_check="never", time="1s")
h.check(sprung(), "--allow-commands starts the program")
answer = said(server.call("verify_kernel", module="host.cu", reference="twice.py", device="vgpu", cross_check="never"))
h.check("--allow-host-code" not in answer, "--allow-host-code records: %s" % answer[-300:])
server.end()
h.finish()
