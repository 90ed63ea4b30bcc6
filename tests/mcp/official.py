"""The official client speaks with 'kernelwright mcp', over pipes and over HTTP, in both eras of the protocol.

It is looked for in $KW_MCP_PYTHON, this Python, and the build's mcp-venv (tools/setup mcp BUILD).
"""
import importlib.util
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
CHECK = "import mcp.client.client, mcp_types.version"


def find_python():
    named = os.environ.get("KW_MCP_PYTHON")
    build = os.path.dirname(os.path.abspath(sys.argv[1]))
    for python in [named] if named else [sys.executable, os.path.join(build, "mcp-venv", "bin", "python")]:
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", CHECK], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    print("skipped: no Python here has the official client of the Model Context Protocol (mcp 2.3)")
    sys.exit(77)


if importlib.util.find_spec("mcp_types") is None or importlib.util.find_spec("mcp") is None:
    python = find_python()
    os.execv(python, [python, "-B", *sys.argv])

import anyio  # noqa: E402
import httpx2  # noqa: E402
from mcp import StdioServerParameters  # noqa: E402
from mcp.client.client import Client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

sys.path.insert(0, os.path.join(FOLDER, "..", "cli"))
sys.path.insert(0, FOLDER)
from client import Http  # noqa: E402
from harness import Harness, ROOT  # noqa: E402

h = Harness(sys.argv[1])
compiler = h.compiler()
environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs"))
TASK = {"reference": "examples/rms_norm.py", "dims": {"B": 4, "D": 64}}
JUDGE = {"module": "examples/rms_norm.cu", "device": "vgpu", "compiler": compiler, "cross_check": "never", **TASK}
EVIDENCE = {key: value for key, value in JUDGE.items() if key != "cross_check"}
# A call each; the client itself holds every structured result against the tool's output schema.
CALLS = [
    ("describe_task", TASK), ("lint_task", TASK), ("check_kernel", {"module": "examples/rms_norm.cu", "compiler": compiler}),
    ("run_virtual_gpu", {"module": "examples/rms_norm.cu", "dims": TASK["dims"], "compiler": compiler, "counters": True}),
    ("verify_kernel", JUDGE), ("bench_kernel", {**JUDGE, "quick": True}), ("profile_kernel", EVIDENCE), ("roofline", EVIDENCE),
    ("catalog", {}), ("catalog", {"id": "memory"}), ("doctor", {}), ("job_status", {}),
    ("synthesize", {**TASK, "device": "vgpu", "compiler": compiler, "candidates": 1, "versus": ["none"], "cross_check": "never", "quick": True}),
    ("inspect_run", {}),
]
FAILING = [("compare_kernels", {"module_a": "nothing.cu", "module_b": "nothing.cu"}), ("verify_kernel", {}), ("job_result", {"job": "job-0"}),
           ("inspect_run", {"run": "nothing"}), ("catalog", {"id": "nothing"})]


async def refused(where, call):
    try:
        await call
        h.check(False, where + " is refused")
    except MCPError:
        h.check(True, where)


async def converse(client, where, calls):
    told = []

    async def progress(done, total, message):
        told.append((done, message))

    tools = (await client.list_tools()).tools
    names = {tool.name for tool in tools}
    for name, arguments in calls:
        if name not in names:
            continue
        result = await client.call_tool(name, arguments, progress_callback=progress)
        h.check(not result.is_error and result.structured_content, "%s: %s: %s" % (where, name, str(result.content)[:400]))
    h.check(told and [one[0] for one in told], where + ": progress is told")
    for name, arguments in FAILING:
        result = await client.call_tool(name, arguments)
        h.check(result.is_error and result.content[0].text, "%s: %s fails as a tool: %s" % (where, name, result))
    await refused(where + ": an unknown tool", client.call_tool("nothing", {}))
    await refused(where + ": an unknown resource", client.read_resource("kernelwright://docs/nothing"))
    for resource in (await client.list_resources()).resources[:60]:
        contents = (await client.read_resource(str(resource.uri))).contents
        h.check(contents and contents[0].text, "%s: %s" % (where, resource.uri))
    h.check(len((await client.list_resource_templates()).resource_templates) == 6, where + ": templates")
    for prompt in (await client.list_prompts()).prompts:
        filled = await client.get_prompt(prompt.name, {argument.name: "x" for argument in prompt.arguments})
        h.check(filled.messages, "%s: %s" % (where, prompt.name))


async def over_pipes(mode, revision):
    server = StdioServerParameters(command=h.binary, args=["mcp", "--root", ROOT], env=environment)
    async with Client(server, mode=mode) as client:
        h.check(client.protocol_version == revision, "%s agrees on %s" % (mode, client.protocol_version))
        await converse(client, "pipes, " + mode, CALLS)


async def over_http(server, mode, revision):
    url = "http://127.0.0.1:%d/mcp" % server.port
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + server.token}, timeout=120) as web:
        async with Client(streamable_http_client(url, http_client=web), mode=mode) as client:
            h.check(client.protocol_version == revision, "HTTP: %s agrees on %s" % (mode, client.protocol_version))
            await converse(client, "HTTP, " + mode, CALLS[:6])


for mode, revision in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
    anyio.run(over_pipes, mode, revision)
server = Http(h.binary, "--root", ROOT, env=environment)
try:
    for mode, revision in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        anyio.run(over_http, server, mode, revision)
finally:
    server.stop()
h.finish()
