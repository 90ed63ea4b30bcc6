"""A client of 'kernelwright mcp' over pipes and over HTTP, in the standard library alone."""
import http.client
import json
import queue
import re
import subprocess
import threading
import time

PATIENCE = 300
NAMED = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Pipes:
    """The server as a child; what it says is read by a thread of its own."""

    def __init__(self, binary, *options, env=None, cwd=None):
        self.process = subprocess.Popen([binary, "mcp", *options], env=env, cwd=cwd, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said, self.notes, self.answers, self.last = queue.Queue(), [], {}, 0
        threading.Thread(target=self._read, daemon=True).start()
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.said.put(line)
        self.said.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def next(self, timeout=PATIENCE):
        """The next message; None when the server has ended."""
        line = self.said.get(timeout=timeout)
        return None if line is None else json.loads(line)

    def start(self, method, params=None):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}})
        return self.last

    def wait(self, number, timeout=PATIENCE):
        """The response to one request; others are kept, notifications too."""
        end = time.time() + timeout
        while number not in self.answers:
            message = self.next(max(end - time.time(), 0.01))
            if message is None:
                raise EOFError("the server has ended")
            if isinstance(message, dict) and "method" in message:
                self.notes.append(message)
            else:
                self.answers[message.get("id") if isinstance(message, dict) else None] = message
        return self.answers.pop(number)

    def ask(self, method, params=None):
        return self.wait(self.start(method, params))

    def hello(self, revision="2025-11-25"):
        answer = self.ask("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def end(self, timeout=PATIENCE):
        """Closes standard input, as clients do; the exit code."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        return self.process.wait(timeout)


class Http:
    """The server on a port of its own; every request is one connection."""

    def __init__(self, binary, *options, env=None, cwd=None):
        self.process = subprocess.Popen([binary, "mcp", "--http", "0", *options], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)/mcp", self.process.stderr.readline())[1])
        self.token = "" if "--token-file" in options else self.process.stderr.readline().split()[-1]
        self.session, self.last = None, 0

    def request(self, body, method="POST", path="/mcp", drop=(), **headers):
        """Status, headers and text of one answer. `headers` replace or add; names in `drop` are not sent."""
        sent = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream"}
        if self.session:
            sent["Mcp-Session-Id"] = self.session
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, data if method == "POST" else None,
                               {name: value for name, value in sent.items() if name not in drop})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        finally:
            connection.close()

    def ask(self, method, params=None, **headers):
        """The response, and the notifications before it."""
        self.last += 1
        status, got, text = self.request({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}}, **headers)
        if not got.get("content-type", "").startswith("text/event-stream"):
            return status, json.loads(text), [], got
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        return status, events[-1] if events else None, events[:-1], got

    def hello(self, revision="2025-11-25"):
        _, answer, _, got = self.ask("initialize", {"protocolVersion": revision, "capabilities": {}})
        self.session = got.get("mcp-session-id")
        self.request({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)


SPIN = """//! kernelwright 1
//! task  spin
//! output y: fp32[N]
//! launch spin grid(N) block(1) args(y)
__global__ void spin(float* y) {
  float v = 0;
  for (long long i = 0; i < 1000000000000ll; ++i) v = v * 0.5f + static_cast<float>(i & blockIdx.x);
  y[blockIdx.x] = v;
}
"""
