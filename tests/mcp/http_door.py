"""'kernelwright mcp --http' on the loopback interface: who is let in, sessions, streams, and bad requests."""
import json
import os
import shutil
import socket
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from client import NAMED, PATIENCE, SPIN, Http  # noqa: E402
from harness import Harness, ROOT  # noqa: E402
from processes import at_work, gone, marked  # noqa: E402

h = Harness(sys.argv[1])
compiler = h.compiler()
MARK = "KW_MCP_HTTP_TEST_%d" % os.getpid()
work = h.path("work")
os.makedirs(work)
for name in ("rms_norm.cu", "rms_norm.py"):
    shutil.copy(os.path.join(ROOT, "examples", name), work)
environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs"), **{MARK: "1"})
JUDGE = {"module": "rms_norm.cu", "reference": "rms_norm.py", "device": "vgpu", "compiler": compiler, "dims": {"B": 4, "D": 64},
         "cross_check": "never"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

server = Http(h.binary, "--root", work, env=environment)


def status(body, **options):
    return server.request(body, **options)[0]


# --- who is let in ---
h.check(status(PING, drop=("Authorization",)) == 401, "no token")
h.check(server.request(PING, drop=("Authorization",))[1].get("www-authenticate") == "Bearer", "it says what is wanted")
h.check(status(PING, Authorization="Bearer " + "0" * 64) == 401, "a wrong token")
h.check(status(PING, Authorization="Bearer " + server.token[:-1]) == 401, "part of the token")
h.check(status(PING, Host="evil.example") == 403, "a foreign host")
h.check(status(PING, Origin="http://evil.example") == 403, "a foreign origin")
h.check(status(PING, Origin="null") == 403, "an origin that is none")
h.check(status(PING, path="/other") == 404, "another path")
h.check(status(PING, method="GET") == 405 and status(PING, method="PUT") == 405, "other methods")
h.check(status(PING, Content_Type="text/plain") == 415, "another type")
h.check(status(PING, Accept="application/json") == 406, "a client that takes no events")
h.check(status(b"garbage") == 400, "garbage")
h.check(status(b"x" * 100, Content_Length="99999999999") == 413, "too much")
h.check(status(PING) == 400, "no session")
h.check(status(PING, Mcp_Session_Id="nothing") == 404, "an unknown session")
h.check(status(PING, Mcp_Protocol_Version="1999-01-01") == 400, "an unknown revision")

# --- a session ---
hello = server.hello("2025-11-25")
h.check(hello["protocolVersion"] == "2025-11-25" and len(server.session) == 64, "a handshake: %s" % hello)
h.check(server.ask("ping", Origin="http://localhost:1")[1]["result"] == {}, "a local origin")
code, answer, notes, got = server.ask("tools/call", {"name": "verify_kernel", "arguments": JUDGE, "_meta": {"progressToken": "p"}})
h.check(code == 200 and answer["result"]["structuredContent"]["verdict"] == "passed", "a call: %s" % str(answer)[:300])
h.check(notes and got["content-type"] == "text/event-stream" and notes[0]["method"] == "notifications/progress", "streams progress: %s" % notes)
code, answer, notes, got = server.ask("tools/call", {"name": "catalog", "arguments": {"id": "memory"}})
h.check(got["content-type"] == "application/json" and not notes, "a quick answer is one document")
h.check(server.request({"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202, "a notification")
h.check(server.request([PING])[0] == 400, "no batches in this revision")
first = server.session
server.session = None
server.hello("2025-03-26")
code, _, text = server.request([PING, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "doctor"}}])
h.check(code == 200 and "\"id\":2" in text and "\"id\":1" in text, "a batch: %s" % text[:200])

# --- no session at all ---
server.session = None
headers = {"Mcp_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "doctor"}
code, answer, _, got = server.ask("tools/call", {"_meta": NAMED, "name": "doctor"}, **headers)
h.check(code == 200 and answer["result"]["resultType"] == "complete" and "mcp-session-id" not in got, "a stateless call")
for bad in ({"Mcp_Method": "tools/list"}, {"Mcp_Name": "catalog"}, {"Mcp_Protocol_Version": "2025-11-25"}):
    code, answer, _, _ = server.ask("tools/call", {"_meta": NAMED, "name": "doctor"}, **{**headers, **bad})
    h.check(code == 400 and answer["error"]["code"] == -32020, "headers must agree: %s" % answer)
code, answer, _, _ = server.ask("no/such", {"_meta": NAMED}, Mcp_Protocol_Version="2026-07-28", Mcp_Method="no/such")
h.check(code == 404 and answer["error"]["code"] == -32601, "an unknown method: %s %s" % (code, answer))
h.check(server.request({"jsonrpc": "2.0", "method": "notifications/x"}, Mcp_Protocol_Version="2026-07-28")[0] == 202, "a stateless notification")

# --- what comes in pieces, or not at all ---


def raw(data, wait=5):
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as client:
        for piece in data if isinstance(data, list) else [data]:
            client.sendall(piece)
            time.sleep(0.05)
        try:
            return client.recv(65536)
        except OSError:
            return b""


body = json.dumps(PING).encode()
head = ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
        "Accept: */*\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n" % (server.token, first, len(body))).encode()
pieces = [head[:10], head[10:200], head[200:] + body[:5], body[5:]]
h.check(b'"result":{}' in raw(pieces), "a request in pieces")
h.check(raw(head + body + head + body).count(b"200 OK") >= 1, "two requests in one piece")
h.check(b"431" in raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 40000), "a head that does not end")
h.check(b"400" in raw(b"\x16\x03\x01\x02\x00garbage\r\n\r\n"), "not HTTP at all")
h.check(b"501" in raw(head.replace(b"Content-Length", b"Transfer-Encoding: chunked\r\nX")), "chunks")
h.check(b"400" in raw(head.replace(b"\r\n\r\n", b"\r\nContent-Length: 1\r\n\r\n")), "two lengths")
server.session = first
# Silent ones, one half of a head each, and ones without the token: the client with the token is answered all the while.
idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
h.check(server.ask("ping")[1]["result"] == {}, "sixty silent connections keep no client out")
for number in range(60):
    idle.append(socket.create_connection(("127.0.0.1", server.port)))
    idle[-1].sendall(head[:60])
h.check(server.ask("ping")[1]["result"] == {}, "nor do sixty that began a request")
kept = socket.create_connection(("127.0.0.1", server.port))
kept.sendall(head + body)
h.check(b'"result":{}' in kept.recv(65536), "a connection with the token")
idle += [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
kept.sendall(head + body)
h.check(b'"result":{}' in kept.recv(65536), "is kept longer than those without")
for one in idle + [kept]:
    one.close()
h.check(server.ask("ping")[1]["result"] == {}, "it continues after they left")

# --- jobs and clients that leave ---
SPINNING = {"module_text": SPIN, "dims": {"N": 1}, "compiler": compiler, "timeout": 600}


def busy():
    return at_work(MARK, {server.process.pid})


outcome = []
thread = threading.Thread(target=lambda: outcome.append(server.request(
    {"jsonrpc": "2.0", "id": "spin", "method": "tools/call", "params": {"name": "run_virtual_gpu", "arguments": SPINNING}})))
thread.start()
h.check(busy(), "a job is at work")
h.check(server.request({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "spin"}})[0] == 202, "cancelled")
h.check(gone(MARK, {server.process.pid}), "no process is left: %s" % marked(MARK))
thread.join(PATIENCE)
h.check(outcome and "data:" not in outcome[0][2], "and the call is not answered: %s" % outcome)

message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                      "params": {"_meta": NAMED, "name": "run_virtual_gpu", "arguments": SPINNING}}).encode()
with socket.create_connection(("127.0.0.1", server.port)) as client:
    client.sendall(("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                    "Accept: */*\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: run_virtual_gpu\r\n"
                    "Content-Length: %d\r\n\r\n" % (server.token, len(message))).encode() + message)
    h.check(busy(), "a stateless job is at work")
h.check(gone(MARK, {server.process.pid}), "it ends with its connection: %s" % marked(MARK))

thread = threading.Thread(target=lambda: server.request(
    {"jsonrpc": "2.0", "id": "more", "method": "tools/call", "params": {"name": "run_virtual_gpu", "arguments": SPINNING}}))
thread.start()
busy()
h.check(server.request(b"", method="DELETE")[0] == 204, "a session is ended")
h.check(gone(MARK, {server.process.pid}), "and its jobs with it: %s" % marked(MARK))
h.check(server.ask("ping")[0] == 404 and server.request(b"", method="DELETE")[0] == 404, "it is gone")
thread.join(PATIENCE)
h.check(server.stop() == 130 and gone(MARK), "Ctrl-C ends it, code %s" % server.process.returncode)

# --- the token in a file ---
path = h.path("token")
server = Http(h.binary, "--root", work, "--token-file", path, env=environment)
h.check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "for its owner alone")
with open(path) as file:
    server.token = file.read().strip()
server.hello()
h.check(server.ask("ping")[1]["result"] == {}, "the file's token")
taken = h.run("mcp", "--http", str(server.port), "--token-file", path)
h.check(taken.returncode == 3 and "port" in taken.stderr, "a port that is taken", taken)
server.stop()
os.chmod(path, 0o644)
open_to_all = h.run("mcp", "--http", "0", "--token-file", path)
h.check(open_to_all.returncode == 2 and "chmod" in open_to_all.stderr, "a file others can read", open_to_all)
h.finish()
