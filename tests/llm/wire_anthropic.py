"""Anthropic's Messages, as strict as the vendor."""
import json
import re

from strict import TOOL_NAME, Rejected, arguments_text, arguments_value, check_schema, is_int, is_number, need, only, pieces, tokens

PATH = re.compile(r"^/v1/messages$")
FIELDS = {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "temperature", "top_p", "top_k", "stop_sequences",
          "stream", "thinking", "output_config", "metadata", "service_tier"}
EXTRA = "{where}.{key}: Extra inputs are not permitted"
ID = re.compile(r"^[a-zA-Z0-9_-]+$")
ADAPTIVE_ONLY = re.compile(r"^claude-(opus-4-[7-9]|(opus|sonnet|haiku)-[5-9])")
STOPS = {"end": "end_turn", "tool_use": "tool_use", "length": "max_tokens", "refusal": "refusal"}


def authorize(headers, key):
    need(headers.get("x-api-key") == key, "invalid x-api-key", status=401, kind="authentication_error")
    need(headers.get("anthropic-version") == "2023-06-01", "anthropic-version: header is required")


def error(status, kind, message, param=None):
    kinds = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
             404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
    kind = kind or kinds.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}


def cache_marks(block, where, count):
    mark = block.get("cache_control")
    if mark is None:
        return count
    only(mark, {"type", "ttl"}, where + ".cache_control", EXTRA)
    need(mark.get("type") == "ephemeral", f"{where}.cache_control.type: must be 'ephemeral'")
    need(count < 4, "A maximum of 4 blocks with cache_control may be provided. Found 5.")
    return count + 1


class Reader:
    def __init__(self, body, issued):
        self.body, self.issued, self.marks, self.text, self.prefixes = body, issued, 0, "", []

    def add(self, text, block, where):
        self.text += text
        before = self.marks
        self.marks = cache_marks(block, where, self.marks)
        if self.marks != before:
            self.prefixes.append(self.text)

    def tools(self):
        tools, names = [], set()
        for i, tool in enumerate(self.body.get("tools", [])):
            where = f"tools.{i}.custom"
            only(tool, {"name", "description", "input_schema", "cache_control", "type"}, where, EXTRA)
            need(isinstance(tool.get("name"), str) and TOOL_NAME.match(tool["name"]), f"{where}.name: String should match pattern")
            need(tool["name"] not in names, "tools: Tool names must be unique.")
            names.add(tool["name"])
            need("input_schema" in tool, f"{where}.input_schema: Field required")
            check_schema(tool["input_schema"], f"{where}.input_schema")
            self.add(json.dumps(tool["input_schema"]) + tool.get("description", ""), tool, where)
            tools.append({"name": tool["name"], "description": tool.get("description", ""), "schema": tool["input_schema"]})
        return tools

    def system(self):
        system = self.body.get("system", [])
        if isinstance(system, str):
            need(system, "system: text content blocks must be non-empty")
            self.text += system
            return system
        texts = []
        for i, block in enumerate(system):
            only(block, {"type", "text", "cache_control"}, f"system.{i}", EXTRA)
            need(block.get("type") == "text" and block.get("text"), "system: text content blocks must be non-empty")
            self.add(block["text"], block, f"system.{i}")
            texts.append(block["text"])
        return "\n".join(texts)

    def block(self, block, role, where, message, open_calls):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            only(block, {"type", "text", "cache_control"}, where, EXTRA)
            need(isinstance(block.get("text"), str) and block["text"], f"{where}: text content blocks must be non-empty")
            need(block["text"].strip(), f"{where}: text content blocks must contain non-whitespace text")
            message["text"] += block["text"]
            self.add(block["text"], block, where)
        elif kind == "tool_use":
            only(block, {"type", "id", "name", "input", "cache_control"}, where, EXTRA)
            need(role == "assistant", f"{where}: `tool_use` blocks can only be in `assistant` messages")
            need(isinstance(block.get("id"), str) and ID.match(block["id"]), f"{where}.id: String should match pattern")
            need(isinstance(block.get("name"), str) and TOOL_NAME.match(block["name"]), f"{where}.name: String should match pattern")
            need(isinstance(block.get("input"), dict), f"{where}.input: Input should be a valid dictionary")
            message["calls"].append({"id": block["id"], "name": block["name"], "arguments": block["input"]})
            self.add(json.dumps(block["input"]), block, where)
        elif kind == "tool_result":
            only(block, {"type", "tool_use_id", "content", "is_error", "cache_control"}, where, EXTRA)
            need(role == "user", f"{where}: `tool_result` blocks can only be in `user` messages")
            need(not message["text"], f"{where}: `tool_result` blocks must come before text")
            name = open_calls.pop(block.get("tool_use_id"), None)
            need(name is not None, f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {block.get('tool_use_id')}. "
                                   "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
            need(isinstance(block.get("content"), str) and block["content"], f"{where}.content: must be a non-empty text")
            message["results"].append({"call_id": block["tool_use_id"], "name": name, "content": block["content"],
                                       "failed": block.get("is_error", False)})
            self.add(block["content"], block, where)
        elif kind == "thinking":
            only(block, {"type", "thinking", "signature"}, where, EXTRA)
            need(role == "assistant" and block.get("signature") in self.issued, f"{where}: Invalid `signature` in `thinking` block")
        else:
            raise Rejected(f"{where}: Input tag '{kind}' found does not match any of the expected tags")

    def messages(self):
        given = self.body.get("messages")
        need(isinstance(given, list) and given, "messages: at least one message is required")
        out, open_calls, ids = [], {}, set()
        for i, turn in enumerate(given):
            where = f"messages.{i}"
            only(turn, {"role", "content"}, where, EXTRA)
            role = turn.get("role")
            need(role in ("user", "assistant"), f"{where}.role: Input should be 'user' or 'assistant'")
            need(role == ("user" if i % 2 == 0 else "assistant"), "messages: roles must alternate between \"user\" and \"assistant\"")
            content = turn.get("content")
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            need(isinstance(content, list) and content, f"{where}: content must not be empty")
            message = {"role": role, "text": "", "calls": [], "results": []}
            for j, block in enumerate(content):
                self.block(block, role, f"{where}.content.{j}", message, open_calls)
            need(role == "assistant" or not open_calls, f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                                                        + ", ".join(open_calls))
            for call in message["calls"]:
                need(call["id"] not in ids, "messages: `tool_use` ids must be unique")
                ids.add(call["id"])
            open_calls = {call["id"]: call["name"] for call in message["calls"]}
            thinking = self.body.get("thinking", {}).get("type") == "enabled" and i == len(given) - 2
            if thinking and message["calls"]:
                need(content[0]["type"] == "thinking", f"{where}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                                                       f"`{content[0]['type']}`. When `thinking` is enabled, a final `assistant` message must "
                                                       "start with a thinking block")
            out.append(message)
        need(out[-1]["role"] == "user", "This model does not support assistant message prefill. The conversation must end with a user message.")
        need(self.body.get("tools") or not ids, "Requests which include `tool_use` or `tool_result` blocks must define tools")
        return out


def check_sampling(body):
    model, thinking = body["model"], body.get("thinking")
    if "temperature" in body:
        need(is_number(body["temperature"]) and 0 <= body["temperature"] <= 1, "temperature: range: 0..1")
        need(not ADAPTIVE_ONLY.match(model), "temperature: is not supported for this model")
    if thinking is None:
        return
    only(thinking, {"type", "budget_tokens"}, "thinking", EXTRA)
    if thinking.get("type") == "enabled":
        need(not ADAPTIVE_ONLY.match(model), "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and "
                                             "\"output_config.effort\" to control thinking behavior.")
        budget = thinking.get("budget_tokens")
        need(is_int(budget) and budget >= 1024, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        need(budget < body["max_tokens"], "`max_tokens` must be greater than `thinking.budget_tokens`")
        need(body.get("temperature", 1) == 1, "`temperature` may only be set to 1 when thinking is enabled")
    else:
        need(thinking.get("type") == "adaptive" and "budget_tokens" not in thinking, "thinking.type: unknown")
    if "output_config" in body:
        only(body["output_config"], {"effort"}, "output_config", EXTRA)
        need(body["output_config"].get("effort") in ("low", "medium", "high", "xhigh", "max"), "output_config.effort: unknown")


def read(path, query, body, state):
    only(body, FIELDS, "body", "{key}: Extra inputs are not permitted")
    need(isinstance(body.get("model"), str), "model: Field required")
    need("max_tokens" in body, "max_tokens: Field required")
    need(is_int(body["max_tokens"]) and body["max_tokens"] >= 1, "max_tokens: Input should be greater than or equal to 1")
    need(body["model"].startswith("claude-"), f"model: {body['model']}", status=404)
    check_sampling(body)
    reader = Reader(body, state.signatures)
    tools = reader.tools()
    system = reader.system()
    messages = reader.messages()
    return {"model": body["model"], "system": system, "messages": messages, "tools": tools, "max_tokens": body["max_tokens"],
            "temperature": body.get("temperature"), "reasoning": body.get("thinking"), "stop": body.get("stop_sequences", []),
            "stream": bool(body.get("stream")), "cache_marks": reader.marks,
            "cached": state.caches.by_marks(reader.prefixes, reader.text)}


def content(reply, state):
    blocks = []
    if "thinking" in reply:
        blocks.append({"type": "thinking", "thinking": reply["thinking"], "signature": state.sign()})
    if reply.get("text"):
        blocks.append({"type": "text", "text": reply["text"]})
    for call in reply.get("calls", []):
        blocks.append({"type": "tool_use", "id": call.get("id") or state.new_id("toolu"), "name": call["name"], "input": arguments_value(call),
                       "_text": arguments_text(call)})
    return blocks


def usage(conversation, reply):
    read_, write, rest = conversation["cached"]
    given = reply.get("usage", {})
    out = tokens(reply.get("text", "") + json.dumps(reply.get("calls", [])) + reply.get("thinking", ""))
    return {"input_tokens": given.get("input", rest), "output_tokens": given.get("output", out),
            "cache_read_input_tokens": given.get("cache_read", read_), "cache_creation_input_tokens": given.get("cache_write", write)}


def stop(reply):
    return STOPS.get(reply.get("stop"), reply.get("stop")) or ("tool_use" if reply.get("calls") else "end_turn")


def whole(conversation, reply, state):
    blocks = [{k: v for k, v in block.items() if k != "_text"} for block in content(reply, state)]
    return {"id": state.new_id("msg"), "type": "message", "role": "assistant", "model": conversation["model"], "content": blocks,
            "stop_reason": stop(reply), "stop_sequence": None, "usage": usage(conversation, reply)}


def events(conversation, reply, state):
    used = usage(conversation, reply)
    start = {"id": state.new_id("msg"), "type": "message", "role": "assistant", "model": conversation["model"], "content": [],
             "stop_reason": None, "usage": {**used, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    for i, block in enumerate(content(reply, state)):
        kind = block["type"]
        opened = {"text": {"type": "text", "text": ""}, "thinking": {"type": "thinking", "thinking": "", "signature": ""}}.get(
            kind, {"type": "tool_use", "id": block.get("id"), "name": block.get("name"), "input": {}})
        yield "content_block_start", {"type": "content_block_start", "index": i, "content_block": opened}
        deltas = {"text": lambda: [{"type": "text_delta", "text": p} for p in pieces(block["text"])],
                  "thinking": lambda: [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
                  + [{"type": "signature_delta", "signature": block["signature"]}],
                  "tool_use": lambda: [{"type": "input_json_delta", "partial_json": p} for p in [""] + pieces(block["_text"])]}[kind]()
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": i, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": i}
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": stop(reply), "stop_sequence": None},
                            "usage": {"output_tokens": used["output_tokens"]}}
    yield "message_stop", {"type": "message_stop"}


def error_event(kind, message):
    return "error", {"type": "error", "error": {"type": kind, "message": message}}


def empty(conversation):
    return {"id": "msg_empty", "type": "message", "role": "assistant", "model": conversation["model"]}


REQUEST_ID = "request-id"
LAST = None
