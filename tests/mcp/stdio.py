"""'kernelwright mcp' over pipes: the protocol, bad clients, jobs that are stopped, and no process left behind."""
import json
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from client import NAMED, PATIENCE, SPIN, Pipes  # noqa: E402
from harness import Harness, ROOT  # noqa: E402
from processes import at_work, gone, marked  # noqa: E402

h = Harness(sys.argv[1])
compiler = h.compiler()
MARK = "KW_MCP_TEST_%d" % os.getpid()
work = h.path("work")
os.makedirs(work)
for name in ("rms_norm.cu", "rms_norm.py", "rms_norm_bug.cu"):
    shutil.copy(os.path.join(ROOT, "examples", name), work)
h.write("outside.cu", "secret")
os.symlink(h.path("outside.cu"), os.path.join(work, "link.cu"))
environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs"), TMPDIR=h.path("temporary"), **{MARK: "1"})
os.makedirs(environment["TMPDIR"])
DIMS = {"B": 4, "D": 64}
JUDGE = {"module": "rms_norm.cu", "reference": "rms_norm.py", "device": "vgpu", "compiler": compiler, "dims": DIMS,
         "cross_check": "never"}


def open_server(*options, revision="2025-11-25"):
    server = Pipes(h.binary, "--root", work, *options, env=environment)
    if revision:
        server.hello(revision)
    return server


def code(answer):
    return answer.get("error", {}).get("code")


# --- the protocol ---
server = open_server(revision=None)
h.check(code(server.ask("tools/list")) == -32600, "nothing before the handshake")
h.check(server.ask("ping")["result"] == {}, "ping at any time")
hello = server.hello("2025-06-18")
h.check(hello["protocolVersion"] == "2025-06-18" and hello["serverInfo"]["name"] == "kernelwright", "handshake: %s" % hello)
tools = {tool["name"]: tool for tool in server.ask("tools/list")["result"]["tools"]}
for name in ("describe_task", "import_kernel", "lint_task", "check_kernel", "run_virtual_gpu", "verify_kernel", "bench_kernel", "compare_kernels",
             "profile_kernel", "roofline", "sass", "catalog", "synthesize", "resume_run", "optimize_setup", "optimize_open",
             "optimize_close", "optimize_finalize", "job_status", "job_result", "job_cancel", "inspect_run", "doctor"):
    h.check(name in tools, "tool %s is offered" % name)
for tool in tools.values():
    h.check(tool["inputSchema"]["additionalProperties"] is False and "outputSchema" in tool, tool["name"] + " has schemas")

described = server.call("describe_task", reference="rms_norm.py")["structuredContent"]
h.check(described["ok"] and described["inputs"][0]["dtype"] == "fp16" and described["cost"]["read_bytes"] > 0 and described["ops"],
        "describe_task: %s" % described)
number = server.start("tools/call", {"name": "verify_kernel", "arguments": JUDGE, "_meta": {"progressToken": 7}})
verified = server.wait(number)["result"]
h.check(verified["structuredContent"]["verdict"] == "passed" and not verified["isError"], "verify_kernel: %s" % verified)
h.check(json.loads(verified["content"][0]["text"]) == verified["structuredContent"], "text and structure say the same")
told = [note["params"] for note in server.notes if note["method"] == "notifications/progress"]
h.check(told and all(one["progressToken"] == 7 for one in told) and
        [one["progress"] for one in told] == sorted({one["progress"] for one in told}), "progress: %s" % told)
h.check(server.call("lint_task", reference="rms_norm.py", dims=DIMS)["structuredContent"]["tasks"][0]["usable"], "lint_task")
checked = server.call("check_kernel", module="rms_norm.cu", compiler=compiler)
h.check(checked["structuredContent"]["variants"][0]["ok"], "check_kernel: %s" % checked)
bug = server.call("run_virtual_gpu", module="rms_norm_bug.cu", dims=DIMS, compiler=compiler)
h.check(not bug["isError"] and not bug["structuredContent"]["ok"] and bug["structuredContent"]["findings"],
        "a bug is a result, not an error: %s" % bug)
counted = {"module": "rms_norm.cu", "dims": DIMS, "compiler": compiler, "counters": True}
h.check("lines" not in server.call("run_virtual_gpu", **counted)["structuredContent"]["counters"][0] and
        "lines" in server.call("run_virtual_gpu", full=True, **counted)["structuredContent"]["counters"][0], "bulk only when asked for")
estimate = server.call("bench_kernel", quick=True, **JUDGE)["structuredContent"]
h.check(estimate["estimate"] and not estimate["certified"], "without a GPU an estimate: %s" % str(estimate)[:300])
h.check(server.call("catalog", id="memory.vectorized_access")["structuredContent"]["method"]["guidance"], "catalog")
h.check("nvrtc" in server.call("doctor")["structuredContent"]["tools"], "doctor")
inline = server.call("verify_kernel", **{**{key: value for key, value in JUDGE.items() if key not in ("module", "reference")},
                                         "module_text": open(os.path.join(work, "rms_norm.cu")).read(),
                                         "reference_text": open(os.path.join(work, "rms_norm.py")).read()})
h.check(inline["structuredContent"]["verdict"] == "passed", "texts instead of files: %s" % inline)
h.check(os.listdir(environment["TMPDIR"]) == [], "their files are gone: %s" % os.listdir(environment["TMPDIR"]))
FOREIGN = """
__global__ void add(const float* a, float* c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + 1; }
extern "C" void solve(const float* a, float* c, int n) { add<<<(n + 255) / 256, 256>>>(a, c, n); }
"""
imported = server.call("import_kernel", source_text=FOREIGN, inputs=["a:fp32[N]", "c:fp32[N]", "n=N"])["structuredContent"]
h.check(imported["ok"] and "//! launch" in imported["module"], "import_kernel: %s" % imported)
h.check(server.call("check_kernel", module_text=imported["module"], compiler=compiler)["structuredContent"]["ok"], "what came out is a module")
unsaid = server.call("import_kernel", source_text=FOREIGN)
h.check(not unsaid["structuredContent"]["ok"], "unknown shapes: %s" % unsaid)
broken = server.call("check_kernel", module_text="//! kernelwright 1\nnonsense")
h.check(broken["isError"] or not broken["structuredContent"]["ok"], "a text that is not a module: %s" % broken)

# --- resources and prompts ---
uris = [one["uri"] for one in server.ask("resources/list")["result"]["resources"]]
h.check("kernelwright://docs/mcp" in uris and "kernelwright://skill/SKILL.md" in uris, "resources: %s" % uris)
for uri in ("kernelwright://docs/kernel-module", "kernelwright://catalog", "kernelwright://catalog/memory.vectorized_access",
            "kernelwright://runs", "kernelwright://skill/SKILL.md"):
    read = server.ask("resources/read", {"uri": uri})
    h.check("result" in read and len(read["result"]["contents"][0]["text"]) > 50, "read %s: %s" % (uri, str(read)[:200]))
h.check(code(server.ask("resources/read", {"uri": "kernelwright://docs/../../etc/passwd"})) == -32002, "no such resource")
h.check(len(server.ask("prompts/list")["result"]["prompts"]) >= 3, "prompts")
filled = server.ask("prompts/get", {"name": "optimize_kernel", "arguments": {"kernel": "k.cu", "reference": "r.py"}})
h.check("k.cu" in filled["result"]["messages"][0]["content"]["text"], "a prompt is filled in")

# --- what must not be possible ---
for path in ("../outside.cu", h.path("outside.cu"), "link.cu", "/etc/passwd", "/proc/self/environ", "", "x" * 5000, "nothing.cu", "."):
    answer = server.call("check_kernel", module=path)
    h.check(answer["isError"] and "secret" not in str(answer), "path %r is refused: %s" % (path[:40], answer))
for arguments in ({"modul": "x"}, {"module": 7}, {"module": "rms_norm.cu", "dims": {"B": "x"}}, {"module": "rms_norm.cu", "target": "-h"},
                  {"module": "rms_norm.cu", "limit": 0}, {"module": "rms_norm.cu", "compiler": "gcc; rm -rf /"}):
    h.check(server.call("check_kernel", **arguments)["isError"], "refused: %s" % arguments)
h.check(code(server.ask("tools/call", {"name": "rm"})) == -32602, "unknown tool")
h.check(code(server.ask("tools/call", {"name": "doctor", "arguments": "x"})) == -32602, "arguments that are none")
h.check(code(server.ask("no/such/method")) == -32601, "unknown method")
h.check(server.end() == 0 and gone(MARK), "it ends with its client, code %s" % server.process.returncode)

# --- bad clients ---
server = open_server()
for garbage in (b"\n\n", b"garbage\n", b"\xff\xfe\x00\n", b"{\n", b"[]\n", b'"text"\n', b'{"jsonrpc":"2.0","id":[],"method":"x"}\n',
                b"[" * 100000 + b"\n", b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}\n'):
    server.raw(garbage)
large = json.dumps({"jsonrpc": "2.0", "id": "large", "method": "ping", "params": {"x": "y" * (17 << 20)}}).encode() + b"\n"
server.raw(large)
members = {"k%d" % i: i for i in range(300000)}
server.raw(json.dumps({"jsonrpc": "2.0", "id": "many", "method": "ping", "params": members}).encode() + b"\n")
h.check(server.ask("ping")["result"] == {}, "it continues after garbage")
server.raw(b"x" * 1000)
for _ in range(100):
    server.raw(b"z" * (1 << 20))
server.raw(b"\n")
h.check(server.ask("ping")["result"] == {}, "it continues after a line of 100 MB")
with open("/proc/%d/status" % server.process.pid) as file:
    peak = int(next(line for line in file if line.startswith("VmHWM")).split()[1]) >> 10
h.check(peak < (4000 if os.environ.get("KW_SANITIZED") else 400), "memory stays bounded: %d MiB" % peak)
h.check(code(server.ask("initialize", {"protocolVersion": "2025-11-25"})) == -32600, "no second handshake")
server.send([{"jsonrpc": "2.0", "id": 900, "method": "ping"}])
h.check(server.ask("ping")["result"] == {} and code(server.answers.get(None, {})) == -32600, "no batches in this revision")
server.end()

server = open_server(revision="2025-03-26")
server.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"},
             {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "doctor"}}, 7])
batch = server.next()
h.check(isinstance(batch, list) and {one["id"] for one in batch} == {"a", "b", None}, "a batch is answered as one: %s" % str(batch)[:300])
h.check("structuredContent" not in str(batch), "what this revision does not know is not sent")
server.end()

# --- the newest revision: no handshake ---
server = open_server(revision=None)
found = server.ask("server/discover", {"_meta": NAMED})["result"]
h.check("2026-07-28" in found["supportedVersions"] and found["resultType"] == "complete", "server/discover: %s" % found)
answer = server.ask("tools/call", {"_meta": NAMED, "name": "doctor"})["result"]
h.check(answer["resultType"] == "complete" and answer["structuredContent"]["ok"], "a call without a handshake")
wrong = server.ask("tools/list", {"_meta": {**NAMED, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}})
h.check(code(wrong) == -32022 and "2026-07-28" in wrong["error"]["data"]["supported"], "a revision that is not spoken: %s" % wrong)
server.end()

# --- many at once ---
server = open_server()
numbers = [server.start("tools/call", {"name": "verify_kernel", "arguments": JUDGE}) for _ in range(6)]
numbers += [server.start("tools/call", {"name": "doctor"}) for _ in range(6)]
results = [server.wait(number)["result"] for number in numbers]
h.check(all(not one["isError"] for one in results), "twelve calls at once")
server.end()

# --- jobs that are stopped ---
SPINNING = {"module_text": SPIN, "dims": {"N": 1}, "compiler": compiler, "timeout": 600}


def busy(server):
    return at_work(MARK, {server.process.pid})


server = open_server()
number = server.start("tools/call", {"name": "run_virtual_gpu", "arguments": SPINNING})
h.check(busy(server), "a job has a process of its own")
server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "test"}})
h.check(gone(MARK, {server.process.pid}), "a cancelled call leaves no process: %s" % marked(MARK))
h.check(server.ask("ping")["result"] == {} and number not in server.answers, "and is not answered")
end = time.time() + PATIENCE
while os.listdir(environment["TMPDIR"]) and time.time() < end:
    time.sleep(0.02)
h.check(os.listdir(environment["TMPDIR"]) == [], "nor leaves files: %s" % list(os.walk(environment["TMPDIR"])))

# A crash of the command's process is an error of the tool, not of the server.
number = server.start("tools/call", {"name": "run_virtual_gpu", "arguments": SPINNING})
for pid in busy(server):
    try:
        os.kill(pid, 9)
    except OSError:
        pass
crashed = server.wait(number)["result"]
h.check(crashed["isError"] and "signal 9" in crashed["content"][0]["text"], "a killed process: %s" % crashed)

handle = server.call("verify_kernel", background=True, **JUDGE)["structuredContent"]["job"]
done = server.call("job_result", job=handle, wait_seconds=60)
h.check(done["structuredContent"].get("verdict") == "passed", "a job's result: %s" % done)
h.check(server.call("job_status", job=handle)["structuredContent"]["state"] == "done", "its state")
read = server.ask("resources/read", {"uri": "kernelwright://jobs/" + handle})
h.check('"passed"' in str(read), "its result as a resource")
h.check(server.call("job_status", job="job-99")["isError"], "no such job")
patient = server.call("synthesize", reference="rms_norm.py", device="vgpu", compiler=compiler, dims={"B": 64, "D": 256}, versus=["none"],
                      cross_check="never", time="60s", wait_seconds=0.01)["structuredContent"]
h.check(patient["state"] in ("queued", "running"), "patience ends in a handle: %s" % patient)
server.call("job_cancel", job=patient["job"])
stopped = server.call("job_result", job=patient["job"], wait_seconds=60)
h.check(stopped["isError"] and "resume" in stopped["content"][0]["text"] or not stopped["isError"], "how to go on is said: %s" % str(stopped)[:300])

# The client goes away while a job is at work.
server.start("tools/call", {"name": "run_virtual_gpu", "arguments": SPINNING})
busy(server)
server.end()
h.check(gone(MARK), "a client that goes leaves no process: %s" % marked(MARK))
server = open_server()
server.start("tools/call", {"name": "run_virtual_gpu", "arguments": SPINNING})
busy(server)
server.process.kill()
server.process.wait()
h.check(gone(MARK), "nor does a server that is killed: %s" % marked(MARK))

# --- a synthesis is a run that resources know ---
server = open_server()
made = server.call("synthesize", reference="rms_norm.py", device="vgpu", compiler=compiler, dims={"B": 64, "D": 256}, versus=["none"],
                   cross_check="never", candidates=2, time="60s", quick=True)
h.check(made["structuredContent"]["ok"], "synthesize: %s" % str(made)[:500])
uris = [one["uri"] for one in server.ask("resources/list")["result"]["resources"] if "/runs/" in one["uri"]]
kernel = [uri for uri in uris if uri.endswith("/kernel")]
h.check(kernel, "runs are resources: %s" % uris)
if kernel:
    h.check("//! kernelwright" in server.ask("resources/read", {"uri": kernel[-1]})["result"]["contents"][0]["text"], "its kernel")
    report = server.ask("resources/read", {"uri": kernel[-1].replace("/kernel", "/report")})
    h.check(len(report["result"]["contents"][0]["text"]) > 100, "its report")
    inspected = server.call("inspect_run", run=kernel[-1].split("/")[-2])["structuredContent"]
    first = inspected["candidates"][0]["id"]
    text = server.ask("resources/read", {"uri": kernel[-1].replace("/kernel", "/candidates/" + first)})
    h.check("//! kernelwright" in str(text), "a candidate: %s" % str(text)[:200])
server.end()

server = open_server("--read-only")
names = {tool["name"] for tool in server.ask("tools/list")["result"]["tools"]}
h.check("synthesize" not in names and "verify_kernel" in names, "--read-only")
server.end()
for words, pattern in ((["--root", "/nonexistent"], "not a folder"), (["--token-file", "x"], "for --http"), (["--http", "x"], "--http")):
    done = h.run("mcp", *words)
    h.check(done.returncode == 2 and pattern in done.stderr and done.stdout == "", "mcp %s" % words, done)
h.finish()
