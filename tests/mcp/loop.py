"""An agent's whole loop over MCP, with the files of the skill's walkthrough; and agents that skip a step or do one twice."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from client import Pipes  # noqa: E402
from harness import Harness, ROOT  # noqa: E402

h = Harness(sys.argv[1])
compiler = h.compiler()
work = h.path("work")
os.makedirs(work)
with open(os.path.join(ROOT, "skills", "kernelwright", "references", "walkthrough.md"), encoding="utf-8") as file:
    files = dict(re.findall(r"^```\w+ title=(\S+)\n(.*?)^```$", file.read(), re.S | re.M))


def write(name, text):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


for name in ("transpose.py", "transpose.cu"):
    write(name, files[name])
server = Pipes(h.binary, "--root", work, env=dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs")))
server.hello()


def call(name, **arguments):
    result = server.call(name, **arguments)
    return result["structuredContent"], result


def refused(what, name, pattern, **arguments):
    document, result = call(name, **arguments)
    h.check(not document["ok"] and re.search(pattern, json.dumps(document)), "%s: %s" % (what, json.dumps(document)[:600]))


setup, _ = call("optimize_setup", baseline="transpose.cu", reference="transpose.py", dims={"M": 1024, "N": 1024}, iterations=1, branches=2,
                device="vgpu", compiler=compiler, cross_check="never")
h.check(setup["ok"], "optimize_setup: %s" % json.dumps(setup)[:600])
run = os.path.relpath(setup["run_dir"], os.path.realpath(work))
refused("nothing is open yet", "optimize_close", "open-iter", run_dir=run)
opened, _ = call("optimize_open", run_dir=run)
h.check(opened["ok"], "optimize_open: %s" % json.dumps(opened)[:600])
refused("it is open already", "optimize_open", "close-iter", run_dir=run)
refused("no methods, no branches", "optimize_close", "methods.json", run_dir=run)
write(run + "/iterv1/methods.json", '{"iter": 1, "methods": [{"id": "memory.no_such_method"}]}')
refused("a method that is not in the catalogue", "optimize_validate", "no method", run_dir=run)
write(run + "/iterv1/methods.json", files["$RUN/iterv1/methods.json"])
valid, _ = call("optimize_validate", run_dir=run)
h.check(valid["ok"], "optimize_validate: %s" % json.dumps(valid)[:600])
refused("no branches", "optimize_close", "branches", run_dir=run)
kernel = files["$RUN/iterv1/branches/b1/kernel.cu"]
write(run + "/iterv1/branches/b1/kernel.cu", kernel)
write(run + "/iterv1/branches/b2/kernel.cu", kernel.replace("__syncthreads();", "").replace("tile[threadIdx.x][c]", "tile[c][threadIdx.x]"))
wrong, _ = call("verify_kernel", module=run + "/iterv1/branches/b2/kernel.cu", reference="transpose.py", dims={"M": 33, "N": 70}, device="vgpu",
                compiler=compiler, cross_check="never")
h.check(wrong["verdict"] in ("wrong", "rejected"), "a wrong branch is seen before it is raced: %s" % wrong["verdict"])
closed, result = call("optimize_close", run_dir=run)
h.check(closed["ok"] and not result["isError"], "optimize_close: %s" % json.dumps(closed)[:800])
text = json.dumps(closed)
h.check("memory.coalesced_access" in text and "unverified" in text, "nothing is effective without a clock: %s" % text[:800])
refused("it is closed already", "optimize_close", "finalize|open-iter", run_dir=run)
state, _ = call("optimize_state", run_dir=run)
h.check(state["phase"] == "closed" and state["best_file"] == "iterv1/kernel.cu", "optimize_state: %s" % json.dumps(state)[:600])
ended, _ = call("optimize_finalize", run_dir=run)
h.check(ended["ok"] and os.path.exists(os.path.join(work, run, "summary.md")), "optimize_finalize: %s" % json.dumps(ended)[:600])
refused("it is over", "optimize_open", "final", run_dir=run)
refused("a folder elsewhere", "optimize_state", "outside", run_dir="/tmp")
refused("no run", "optimize_state", "state.json|not a run|no run", run_dir=".")
for document, name in ((setup, "setup"), (opened, "open"), (closed, "close"), (state, "state")):
    h.check(len(json.dumps(document)) < 100000, "%s is not too long: %d bytes" % (name, len(json.dumps(document))))
h.check(server.end() == 0, "it ends with its client")
h.finish()
