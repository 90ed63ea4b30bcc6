"""The strict server is strict: one malformed request after another, each rejected in the vendor's way, and the same
conversation accepted when it is right. Also: what a script can say."""
import copy
import json
import pathlib
import sys
import tempfile
import urllib.error
import urllib.request

from server import ModelServer, load_script

failures = 0


def check(condition, what, detail=""):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {what}\n{detail}")


SCHEMA = {"type": "object", "properties": {"source": {"type": "string"}}, "required": ["source"]}
ANTHROPIC = {
    "model": "claude-sonnet-4-6", "max_tokens": 2000, "system": [{"type": "text", "text": "s"}],
    "tools": [{"name": "compile", "description": "d", "input_schema": SCHEMA}],
    "messages": [{"role": "user", "content": "go"},
                 {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "compile", "input": {"source": "x"}}]},
                 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}]}
CHAT = {
    "model": "gpt-4.1", "max_completion_tokens": 100,
    "tools": [{"type": "function", "function": {"name": "compile", "description": "d", "parameters": SCHEMA}}],
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "go"},
                 {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "type": "function",
                                                                        "function": {"name": "compile", "arguments": "{}"}}]},
                 {"role": "tool", "tool_call_id": "t1", "content": "ok"}]}
RESPONSES = {
    "model": "gpt-4.1", "max_output_tokens": 100, "instructions": "s", "store": False,
    "tools": [{"type": "function", "name": "compile", "description": "d", "parameters": SCHEMA}],
    "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
              {"type": "function_call", "call_id": "t1", "name": "compile", "arguments": "{}"},
              {"type": "function_call_output", "call_id": "t1", "output": "ok"}]}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "s"}]}, "generationConfig": {"maxOutputTokens": 100},
    "tools": [{"functionDeclarations": [{"name": "compile", "description": "d", "parameters": SCHEMA}]}],
    "contents": [{"role": "user", "parts": [{"text": "go"}]},
                 {"role": "model", "parts": [{"functionCall": {"name": "compile", "args": {}}}]},
                 {"role": "user", "parts": [{"functionResponse": {"name": "compile", "response": {"output": "ok"}}}]}]}

WIRES = {
    "anthropic": ("/v1/messages", {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}, ANTHROPIC),
    "openai-chat": ("/v1/chat/completions", {"authorization": "Bearer test-key"}, CHAT),
    "openai-responses": ("/v1/responses", {"authorization": "Bearer test-key"}, RESPONSES),
    "gemini": ("/v1beta/models/gemini-2.5-pro:generateContent", {"x-goog-api-key": "test-key"}, GEMINI),
}

DELETE = object()
# wire, path into the body, what is put there, part of the message
CASES = [
    ("anthropic", ["max_tokens"], DELETE, "max_tokens: Field required"),
    ("anthropic", ["max_tokens"], 0, "greater than or equal to 1"),
    ("anthropic", ["max_completion_tokens"], 5, "Extra inputs are not permitted"),
    ("anthropic", ["messages"], [], "at least one message"),
    ("anthropic", ["messages", 0, "role"], "system", "'user' or 'assistant'"),
    ("anthropic", ["messages", 0, "role"], "assistant", "roles must alternate"),
    ("anthropic", ["messages", 0, "content"], "", "non-empty"),
    ("anthropic", ["messages", 0, "content"], [{"type": "text", "text": "  "}], "non-whitespace"),
    ("anthropic", ["messages", 0, "name"], "x", "Extra inputs"),
    ("anthropic", ["messages", 1, "content", 0, "input"], "{}", "valid dictionary"),
    ("anthropic", ["messages", 1, "content", 0, "id"], "a.b", "match pattern"),
    ("anthropic", ["messages", 1, "content", 0, "name"], "a b", "match pattern"),
    ("anthropic", ["messages", 2, "content", 0, "tool_use_id"], "t9", "unexpected `tool_use_id`"),
    ("anthropic", ["messages", 2, "content"], [{"type": "text", "text": "no result"}], "without `tool_result`"),
    ("anthropic", ["messages", 2], DELETE, "prefill"),
    ("anthropic", ["tools"], DELETE, "must define tools"),
    ("anthropic", ["tools", 0, "input_schema"], {"type": "string"}, "must be of type 'object'"),
    ("anthropic", ["tools", 0, "input_schema", "properties", "source", "type"], "text", "not a valid type"),
    ("anthropic", ["tools", 0, "input_schema", "required"], ["other"], "is not a property"),
    ("anthropic", ["tools", 0, "parameters"], {}, "Extra inputs"),
    ("anthropic", ["temperature"], 1.5, "temperature"),
    ("anthropic", ["thinking"], {"type": "enabled", "budget_tokens": 100}, "1024"),
    ("anthropic", ["thinking"], {"type": "enabled", "budget_tokens": 4000}, "greater than `thinking.budget_tokens`"),
    ("anthropic", ["thinking"], {"type": "enabled", "budget_tokens": 1024}, "Expected `thinking`"),
    ("anthropic", ["messages", 1, "content", 0], {"type": "thinking", "thinking": "x", "signature": "forged"}, "signature"),
    ("anthropic", ["system"], [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5, "maximum of 4"),
    ("anthropic", ["model"], "gpt-4.1", "model: gpt-4.1"),
    ("openai-chat", ["max_output_tokens"], 5, "Unrecognized request argument supplied: max_output_tokens"),
    ("openai-chat", ["messages"], [], "empty array"),
    ("openai-chat", ["messages", 0, "role"], "model", "Supported values"),
    ("openai-chat", ["messages", 1, "content"], None, "Invalid type"),
    ("openai-chat", ["messages", 3, "tool_call_id"], "t9", "must be a response to a preceeding message"),
    ("openai-chat", ["messages", 3], {"role": "user", "content": "x"}, "must be followed by tool messages"),
    ("openai-chat", ["messages", 3], DELETE, "must be followed by tool messages"),
    ("openai-chat", ["messages", 2, "tool_calls", 0, "function", "arguments"], {}, "expected a string"),
    ("openai-chat", ["messages", 2, "tool_calls", 0, "type"], DELETE, "type"),
    ("openai-chat", ["tools", 0, "function", "name"], "a b", "pattern"),
    ("openai-chat", ["tools", 0, "name"], "x", "Unknown parameter"),
    ("openai-chat", ["tools", 0, "function", "parameters"], {"type": "array"}, "must be of type 'object'"),
    ("openai-chat", ["stream_options"], {"include_usage": True}, "only allowed when 'stream'"),
    ("openai-chat", ["reasoning_effort"], "high", "reasoning_effort"),
    ("openai-chat", ["temperature"], 3, "temperature"),
    ("openai-chat", ["max_completion_tokens"], 0, "below minimum"),
    ("openai-chat", ["model"], "unknown-x", "does not exist"),
    ("openai-responses", ["stop"], ["x"], "Unknown parameter: 'stop'"),
    ("openai-responses", ["max_tokens"], 5, "Unknown parameter"),
    ("openai-responses", ["max_output_tokens"], 5, "below minimum"),
    ("openai-responses", ["input"], [], "input"),
    ("openai-responses", ["input", 0, "content", 0, "type"], "text", "Supported values"),
    ("openai-responses", ["input", 0, "content", 0, "type"], "output_text", "Supported values"),
    ("openai-responses", ["input", 2, "call_id"], "t9", "No tool call found"),
    ("openai-responses", ["input", 2], DELETE, "No tool output found"),
    ("openai-responses", ["input", 1, "arguments"], {}, "expected a string"),
    ("openai-responses", ["input", 1], {"type": "reasoning", "encrypted_content": "forged"}, "could not be verified"),
    ("openai-responses", ["tools", 0, "function"], {}, "Unknown parameter"),
    ("openai-responses", ["tools", 0, "parameters"], DELETE, "Missing required parameter"),
    ("openai-responses", ["reasoning"], {"effort": "high"}, "not supported with this model"),
    ("openai-responses", ["include"], ["reasoning.encrypted_content"], "not supported"),
    ("gemini", ["model"], "x", "Unknown name \"model\""),
    ("gemini", ["contents"], [], "contents is not specified"),
    ("gemini", ["contents", 0, "role"], "assistant", "valid role"),
    ("gemini", ["contents", 0, "parts"], [], "must not be empty"),
    ("gemini", ["contents", 0, "parts", 0, "type"], "text", "Unknown name"),
    ("gemini", ["contents", 2, "parts"], [{"text": "no result"}], "number of function response parts"),
    ("gemini", ["contents", 2, "parts", 0, "functionResponse", "name"], "other", "function response turn"),
    ("gemini", ["contents", 2, "parts", 0, "functionResponse", "response"], "ok", "must be an object"),
    ("gemini", ["contents", 1, "parts", 0, "thoughtSignature"], "forged", "signature"),
    ("gemini", ["contents", 2], DELETE, "end with a user role"),
    ("gemini", ["tools", 0, "functionDeclarations", 0, "parameters", "additionalProperties"], False, "Unknown name \"additionalProperties\""),
    ("gemini", ["tools", 0, "functionDeclarations", 0, "parameters"], {"type": "object", "properties": {}}, "non-empty"),
    ("gemini", ["tools", 0, "functionDeclarations", 0, "name"], "1a", "function name"),
    ("gemini", ["generationConfig", "max_tokens"], 5, "Unknown name"),
    ("gemini", ["generationConfig", "thinkingConfig"], {"thinkingLevel": "high"}, "not supported"),
    ("gemini", ["generationConfig", "temperature"], 3, "temperature"),
]


def post(server, wire, body, headers=None, raw=None):
    path, own, _ = WIRES[wire]
    data = raw if raw is not None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data=data, headers={"content-type": "application/json", **own, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=300) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as no:
        return no.code, no.read().decode()


def spoil(body, path, value):
    body = copy.deepcopy(body)
    place = body
    for key in path[:-1]:
        place = place[key]
    if value is DELETE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return body


with ModelServer() as server:
    for wire, (_, _, body) in WIRES.items():
        server.state.steps = [{"text": "fine"}]
        status, text = post(server, wire, body)
        check(status == 200 and "fine" in text, f"{wire}: a correct request is accepted", text)
        status, text = post(server, wire, body, raw=b"{nonsense")
        check(status == 400, f"{wire}: no JSON", text)
        for header in ("x-api-key", "authorization", "x-goog-api-key"):
            if header in WIRES[wire][1]:
                status, text = post(server, wire, body, headers={header: "Bearer wrong"})
                check(status == (400 if wire == "gemini" else 401), f"{wire}: a wrong key", text)
        status, text = post(server, wire, body)
        check(status == 422 and "no step left" in text, f"{wire}: a script that has ended", text)
    status, _ = post(server, "anthropic", ANTHROPIC, headers={"anthropic-version": "1"})
    check(status == 400, "anthropic: another version")
    for wire, path, value, says in CASES:
        server.state.steps = [{"text": "must not be heard"}]
        status, text = post(server, wire, spoil(WIRES[wire][2], path, value))
        message = json.loads(text).get("error", {}).get("message", "")
        check(400 <= status < 500 and says in message, f"{wire} {path}: {says}", f"{status} {text}")

    # Expectations of a script, and what it is shown.
    server.state.steps = [{"text": "a", "expect": {"system": ["s"], "last": ["ok"], "tools": ["compile"], "absent": ["zebra"]}}] * 4
    for wire, (_, _, body) in WIRES.items():
        status, text = post(server, wire, body)
        check(status == 200, f"{wire}: expectations that hold", text)
    server.state.steps = [{"text": "a", "expect": {"last": ["zebra"]}}]
    status, text = post(server, "anthropic", ANTHROPIC)
    check(status == 422 and "zebra" in text and server.requests()[-1]["problem"] == "expected in last: zebra", "one that does not", text)

with tempfile.TemporaryDirectory() as folder:
    script = pathlib.Path(folder) / "engineer.py"
    script.write_text("def respond(conversation, state):\n"
                      "    state['n'] = state.get('n', 0) + 1\n"
                      "    last = conversation['messages'][-1]\n"
                      "    return {'text': f\"{conversation['wire']} {state['n']} {last['results'][0]['content']}\"}\n")
    with ModelServer(**load_script(str(script))) as server:
        for n, (wire, (_, _, body)) in enumerate(WIRES.items(), 1):
            status, text = post(server, wire, body)
            check(status == 200 and f"{wire} {n} ok" in text, f"{wire}: a program as script", text)

print("FAILED" if failures else f"{len(CASES)} malformed requests rejected")
sys.exit(1 if failures else 0)
