"""A model server without a model: speaks four vendors' wire formats on the loopback interface, rejects what they would
reject, and answers what a script says.

    server.py [--script FILE] [--port N] [--key KEY] [--frame]

Prints "listening on http://127.0.0.1:PORT" (with --frame: writes the port as a frame on descriptor 3) and serves until
it is killed. Base URLs: /            anthropic (POST /v1/messages)
                         /v1          openai-chat, openai-responses
                         /v1beta      gemini

A script is a JSON list of steps, taken one per request, or a Python file with
    def respond(conversation, state): return STEP
whose `conversation` is the same for all formats:
    {"wire", "model", "system", "messages": [{"role", "text", "calls": [{"id", "name", "arguments"}],
     "results": [{"call_id", "name", "content", "failed"}]}], "tools", "max_tokens", "temperature", "reasoning", "stream"}
and whose `state` is a dict of its own that lives as long as the server.

A step is a reply:  {"text": …, "calls": [{"name", "arguments": {…} or any text}], "stop": "end|tool_use|length|refusal|…",
                     "thinking": …, "usage": {"input", "output", "cache_read", "cache_write", "reasoning"}}
or an error:        {"status": 429, "message": …, "kind": …, "headers": {"retry-after": "2"}}
or a fault:         {"fault": NAME, …}: close, cut, drip, hang, html, raw ("status", "body"), invalid_json, empty, blocked, big,
                    error_event, no_stream, redirect (see faults below); a fault that begins a reply takes the reply's keys too
with, optionally:   "delay": seconds before it, "expect": {"system": […], "last": […], "any": […], "absent": […],
                    "tools": […], "model": …}: texts that must be (absent: must not be) there, or the request is rejected
                    with status 422 and remembered in the log as unexpected.

Control, from outside:  POST /control/script  a JSON list, appended to the steps left; {"reset": true} forgets everything
                        GET  /control/log     {"requests": [{"wire", "path", "body", "conversation", "status", "problem"}],
                                               "steps_left": n}
"""
import argparse
import http.server
import importlib.util
import json
import os
import pathlib
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import wire_anthropic  # noqa: E402
import wire_gemini  # noqa: E402
import wire_openai_chat  # noqa: E402
import wire_openai_responses  # noqa: E402
from strict import Caches, Rejected, need  # noqa: E402

WIRES = {"anthropic": wire_anthropic, "openai-chat": wire_openai_chat, "openai-responses": wire_openai_responses, "gemini": wire_gemini}
MOST_BODY = 32_000_000


class State:
    """What the server remembers between requests."""

    def __init__(self, steps=None, respond=None):
        self.lock = threading.RLock()
        self.steps, self.respond = list(steps or []), respond
        self.reset()

    def reset(self):
        self.log, self.signatures, self.caches, self.ids, self.own = [], set(), Caches(), 0, {}

    def new_id(self, prefix):
        with self.lock:
            self.ids += 1
            return f"{prefix}_{self.ids:06d}"

    def sign(self):
        """A signature that will be recognised when it comes back."""
        signature = self.new_id("sig")
        self.signatures.add(signature)
        return signature

    def next_step(self, conversation):
        if self.respond is not None:
            return self.respond(conversation, self.own)
        need(self.steps, "the script has no step left for this request", status=422, kind="script")
        return self.steps.pop(0)


def check_expectations(expect, conversation):
    messages = json.dumps(conversation["messages"], ensure_ascii=False)
    last = json.dumps(conversation["messages"][-1], ensure_ascii=False)
    places = {"system": conversation["system"], "last": last, "any": messages}
    for place, text in places.items():
        for wanted in expect.get(place, []):
            inside = wanted if place == "system" else json.dumps(wanted, ensure_ascii=False)[1:-1]
            need(inside in text, f"expected in {place}: {wanted}", status=422, kind="script")
    for unwanted in expect.get("absent", []):
        need(json.dumps(unwanted, ensure_ascii=False)[1:-1] not in messages, f"not expected: {unwanted}", status=422, kind="script")
    names = [tool["name"] for tool in conversation["tools"]]
    need("tools" not in expect or names == expect["tools"], f"expected tools {expect.get('tools')}, got {names}", status=422, kind="script")
    need(conversation["model"] == expect.get("model", conversation["model"]), f"expected model {expect.get('model')}", status=422, kind="script")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    # --- answers

    def answer(self, status, body, headers=None, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def begin_stream(self, headers):
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, data):
        if data:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

    def hang_up(self):
        """The connection ends at once, without ceremony."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def stream_bytes(self, wire, conversation, step):
        events = [(f"event: {kind}\n" if kind else "") + f"data: {json.dumps(data)}\n\n"
                  for kind, data in wire.events(conversation, step, self.server.state)]
        return "".join([*events, wire.LAST or ""]).encode()

    def reply(self, wire, conversation, step, headers):
        if not conversation["stream"] or step.get("fault") == "no_stream":
            return self.answer(200, wire.whole(conversation, step, self.server.state), headers)
        data = self.stream_bytes(wire, conversation, step)
        self.begin_stream(headers)
        for at in range(0, len(data), 1021):  # a size that cuts through everything
            self.chunk(data[at:at + 1021])
        self.wfile.write(b"0\r\n\r\n")

    # --- faults

    def fault(self, wire, conversation, step, headers):
        name = step["fault"]
        if name == "no_stream":
            self.reply(wire, conversation, step, headers)
        elif name == "close":
            self.hang_up()
        elif name == "hang":
            time.sleep(step.get("seconds", 30))
            self.hang_up()
        elif name == "html":
            page = b"<!DOCTYPE html><html><head><title>Sign in to the network</title></head><body>Please sign in</body></html>"
            self.answer(step.get("status", 200), page, headers, "text/html")
        elif name == "raw":
            self.answer(step.get("status", 200), step.get("body", "").encode(), headers)
        elif name == "invalid_json":
            self.answer(200, b'{"content": [{"type": "text", "te', headers)
        elif name == "empty":
            self.answer(200, wire.empty(conversation), headers)
        elif name == "blocked":
            need(wire is wire_gemini, "only gemini blocks prompts this way", status=422, kind="script")
            self.answer(200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 7}}, headers)
        elif name == "redirect":
            self.answer(302, b"", {**headers, "location": "http://example.invalid/v1"})
        elif name == "big":
            self.big(step.get("bytes", 11_000_000), headers)
        else:
            self.stream_fault(name, wire, conversation, step, headers)

    def big(self, size, headers):
        self.send_response(200)
        for key, value in {"content-type": "application/json", "content-length": str(size), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        try:
            for _ in range(size // 65536 + 1):
                self.wfile.write(b" " * 65536)
        except OSError:  # the client has had enough
            self.close_connection = True

    def stream_fault(self, name, wire, conversation, step, headers):
        """Faults that need a reply that has begun."""
        if conversation["stream"]:
            data = self.stream_bytes(wire, conversation, step)
        else:
            data = json.dumps(wire.whole(conversation, step, self.server.state)).encode()
        self.begin_stream(headers if conversation["stream"] else {**headers, "content-type": "application/json"})
        if name == "cut":
            self.chunk(data[:step.get("bytes", len(data) // 2)])
            self.hang_up()
        elif name == "drip":
            try:
                for at in range(0, len(data), step.get("size", 16)):
                    self.chunk(data[at:at + step.get("size", 16)])
                    time.sleep(step.get("pause", 0.01))
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                self.close_connection = True
        elif name == "error_event":
            kind, body = wire.error_event(step.get("kind", "overloaded_error"), step.get("message", "Overloaded"))
            self.chunk(data[:data.find(b"\n\n") + 2])
            self.chunk((f"event: {kind}\n" if kind else "").encode() + f"data: {json.dumps(body)}\n\n".encode())
            self.wfile.write(b"0\r\n\r\n")
        else:
            raise AssertionError(f"no fault named {name}")

    # --- requests

    def do_GET(self):
        if self.path != "/control/log":
            return self.answer(404, {"error": {"message": f"no such address: {self.path}"}})
        with self.server.state.lock:
            self.answer(200, {"requests": self.server.state.log, "steps_left": len(self.server.state.steps)})

    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        raw = self.rfile.read(min(length, MOST_BODY))
        address = urllib.parse.urlsplit(self.path)
        if address.path == "/control/script":
            return self.control(json.loads(raw))
        for name, wire in WIRES.items():
            if wire.PATH.match(address.path):
                return self.model_request(name, wire, address, raw)
        self.answer(404, {"error": {"message": f"no such address: {self.path}"}})

    def control(self, given):
        state = self.server.state
        with state.lock:
            if isinstance(given, dict):
                state.reset()
                state.steps = list(given.get("steps", []))
            else:
                state.steps += given
        self.answer(200, {"steps_left": len(state.steps)})

    def model_request(self, name, wire, address, raw):
        state = self.server.state
        step = {}
        row = {"wire": name, "path": self.path, "body": None, "conversation": None, "status": 200, "problem": None}
        with state.lock:
            state.log.append(row)
            headers = {wire.REQUEST_ID: state.new_id("req")}
            try:
                wire.authorize({key.lower(): value for key, value in self.headers.items()}, self.server.key)
                need("application/json" in self.headers.get("content-type", ""), "content-type must be application/json", status=415)
                try:
                    row["body"] = json.loads(raw)
                except ValueError:
                    raise Rejected("The request body is not valid JSON") from None
                need(isinstance(row["body"], dict), "The request body must be an object")
                conversation = wire.read(address.path, address.query, row["body"], state)
                conversation["wire"] = name
                row["conversation"] = {key: value for key, value in conversation.items() if key != "cached"}
                step = state.next_step(conversation)
                check_expectations(step.get("expect", {}), conversation)
                if "status" in step and "fault" not in step:
                    raise Rejected(step.get("message", "scripted"), status=step["status"], kind=step.get("kind", ""))
            except Rejected as no:
                row["status"], row["problem"] = no.status, no.message
                return self.answer(no.status, wire.error(no.status, no.kind, no.message, no.param), {**headers, **step.get("headers", {})})
        time.sleep(step.get("delay", 0))
        if "fault" in step:
            row["problem"] = "fault " + step["fault"]
            return self.fault(wire, conversation, step, {**headers, **step.get("headers", {})})
        self.reply(wire, conversation, step, headers)


class ModelServer(http.server.ThreadingHTTPServer):
    """The server inside a test: with ModelServer(steps=[…]) as server: … server.url, server.requests()."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, steps=None, respond=None, key="test-key", port=0, tls=None):
        """`tls` is (certificate, private key), as files."""
        super().__init__(("127.0.0.1", port), Handler)
        self.state, self.key, self.scheme = State(steps, respond), key, "https" if tls else "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, *_):
        """A client that hangs up, or does not like the certificate, is nothing to print."""

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def requests(self):
        with self.state.lock:
            return list(self.state.log)

    def __enter__(self):
        # Looks often: shutdown() waits for the next look, and tests open dozens of servers.
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def providers_toml(self):
        """A providers.toml that sends all four formats here; put its path into KERNELWRIGHT_PROVIDERS."""
        bases = {"anthropic": "", "openai": "/v1", "openai-responses": "/v1", "gemini": "/v1beta"}
        return "".join(f'[provider.{name}]\nbase_url = "{self.url}{path}"\nkey_env = "KW_TEST_KEY"\n\n' for name, path in bases.items())


def load_script(path):
    if path.endswith(".py"):
        spec = importlib.util.spec_from_file_location("script", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return {"respond": module.respond}
    return {"steps": json.loads(pathlib.Path(path).read_text())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", help="steps (.json) or respond() (.py)")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="test-key", help="the only key that is accepted")
    parser.add_argument("--frame", action="store_true", help="tell the port as a frame on descriptor 3")
    options = parser.parse_args()
    server = ModelServer(key=options.key, port=options.port, **(load_script(options.script) if options.script else {}))
    if options.frame:
        port = str(server.server_address[1]).encode()
        os.write(3, struct.pack("<I", len(port)) + port)
    else:
        print(f"listening on {server.url}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
