"""OpenAI's responses, as strict as the vendor."""
import json
import re

from strict import TOOL_NAME, Rejected, arguments_text, check_schema, is_int, is_number, need, only, pieces, tokens
from wire_openai_chat import authorize, error  # noqa: F401 (the vendor is the same)

PATH = re.compile(r"^/v1/responses$")
FIELDS = {"model", "input", "instructions", "tools", "tool_choice", "max_output_tokens", "temperature", "top_p", "reasoning", "store",
          "include", "stream", "previous_response_id", "parallel_tool_calls", "metadata", "text", "truncation"}
UNKNOWN = "Unknown parameter: '{key}'."
REASONING = re.compile(r"^(o[1-9]|gpt-5)")


def check_tools(body):
    tools, names = [], set()
    for i, tool in enumerate(body.get("tools", [])):
        where = f"tools[{i}]"
        only(tool, {"type", "name", "description", "parameters", "strict"}, where, "Unknown parameter: '{where}.{key}'.")
        need(tool.get("type") == "function", f"Invalid value: '{tool.get('type')}'.")
        need(isinstance(tool.get("name"), str) and TOOL_NAME.match(tool["name"]), f"Missing required parameter: '{where}.name'.")
        need(tool["name"] not in names, f"Duplicate function name: {tool['name']}")
        names.add(tool["name"])
        need("parameters" in tool, f"Missing required parameter: '{where}.parameters'.")
        check_schema(tool["parameters"], f"{where}.parameters")
        tools.append({"name": tool["name"], "description": tool.get("description", ""), "schema": tool["parameters"]})
    return tools


class Turns:
    """Items in a row become the turns of a conversation."""

    def __init__(self):
        self.out, self.open = [], {}

    def turn(self, role):
        if not self.out or self.out[-1]["role"] != role:
            self.out.append({"role": role, "text": "", "calls": [], "results": []})
        return self.out[-1]

    def message(self, item, where):
        only(item, {"type", "role", "content", "id", "status"}, where, "Unknown parameter: '{where}.{key}'.")
        role = item.get("role")
        need(role in ("user", "assistant", "system", "developer"), f"Invalid value: '{role}'.")
        need(role == "assistant" or not self.open, "No tool output found for function call " + ", ".join(self.open) + ".")
        want = "output_text" if role == "assistant" else "input_text"
        need(isinstance(item.get("content"), list) and item["content"], f"Invalid type for '{where}.content'")
        for part in item["content"]:
            kinds = (want, "refusal") if role == "assistant" else (want,)
            need(part.get("type") in kinds, f"Invalid value: '{part.get('type')}'. Supported values are: '{want}'. ({where}.content)")
            self.turn(role)["text"] += part.get("text", part.get("refusal", ""))

    def call(self, item, where):
        only(item, {"type", "call_id", "name", "arguments", "id", "status"}, where, "Unknown parameter: '{where}.{key}'.")
        need(isinstance(item.get("call_id"), str) and item["call_id"], f"Missing required parameter: '{where}.call_id'.")
        need(isinstance(item.get("arguments"), str), f"Invalid type for '{where}.arguments': expected a string")
        self.open[item["call_id"]] = item.get("name")
        self.turn("assistant")["calls"].append({"id": item["call_id"], "name": item.get("name"), "arguments": item["arguments"]})

    def output(self, item, where):
        only(item, {"type", "call_id", "output", "id", "status"}, where, "Unknown parameter: '{where}.{key}'.")
        name = self.open.pop(item.get("call_id"), None)
        need(name is not None, f"No tool call found for function call output with call_id {item.get('call_id')}.")
        need(isinstance(item.get("output"), str), f"Invalid type for '{where}.output'")
        self.turn("user")["results"].append({"call_id": item["call_id"], "name": name, "content": item["output"],
                                             "failed": item["output"].startswith("error: ")})


def check_input(given, state):
    need(isinstance(given, list) and given, "Missing required parameter: 'input'.")
    turns, after_reasoning = Turns(), False
    for i, item in enumerate(given):
        where, kind = f"input[{i}]", item.get("type", "message") if isinstance(item, dict) else None
        if kind == "reasoning":
            only(item, {"type", "id", "summary", "encrypted_content", "status", "content"}, where, "Unknown parameter: '{where}.{key}'.")
            need(item.get("encrypted_content") in state.signatures, f"The encrypted content for item {item.get('id')} could not be verified.")
            after_reasoning = True
            continue
        if kind == "message":
            turns.message(item, where)
        elif kind == "function_call":
            turns.call(item, where)
        elif kind == "function_call_output":
            turns.output(item, where)
        else:
            raise Rejected(f"Invalid value: '{kind}'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning'.")
        after_reasoning = False
    need(not after_reasoning, "Item of type 'reasoning' was provided without its required following item.")
    need(not turns.open, "No tool output found for function call " + ", ".join(turns.open) + ".")
    return turns.out


def read(path, query, body, state):
    only(body, FIELDS, "body", UNKNOWN)
    model = body.get("model")
    need(isinstance(model, str) and model, "Missing required parameter: 'model'.")
    need(not model.startswith("unknown"), f"The model `{model}` does not exist or you do not have access to it.", status=404)
    reasoning = REASONING.match(model)
    if "reasoning" in body:
        need(reasoning, "Unsupported parameter: 'reasoning.effort' is not supported with this model.")
        only(body["reasoning"], {"effort", "summary"}, "reasoning", "Unknown parameter: '{where}.{key}'.")
        need(body["reasoning"].get("effort") in ("none", "minimal", "low", "medium", "high", "xhigh"), "Invalid value: 'reasoning.effort'")
    for value in body.get("include", []):
        need(value == "reasoning.encrypted_content", f"Invalid value: '{value}'.")
        need(reasoning, "Encrypted content is not supported with this model.")
    need("temperature" not in body or not reasoning, "Unsupported parameter: 'temperature' is not supported with this model.")
    need(is_number(body.get("temperature", 1)), "Invalid type for 'temperature'")
    limit = body.get("max_output_tokens")
    need(limit is None or is_int(limit) and limit >= 16, "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.")
    tools = check_tools(body)
    messages = check_input(body.get("input"), state)
    return {"model": model, "system": body.get("instructions", ""), "messages": messages, "tools": tools, "max_tokens": limit,
            "temperature": body.get("temperature"), "reasoning": body.get("reasoning"), "stop": [], "stream": bool(body.get("stream")),
            "cache_marks": 0, "encrypted": bool(body.get("include")),
            "cached": state.caches.automatic(body.get("instructions", "") + json.dumps(tools) + json.dumps(body["input"]))}


def usage(conversation, reply):
    read_, _, rest = conversation["cached"]
    given = reply.get("usage", {})
    out = given.get("output", tokens(reply.get("text", "") + json.dumps(reply.get("calls", []))))
    prompt = given.get("input", rest) + given.get("cache_read", read_)
    return {"input_tokens": prompt, "output_tokens": out, "total_tokens": prompt + out,
            "input_tokens_details": {"cached_tokens": given.get("cache_read", read_)},
            "output_tokens_details": {"reasoning_tokens": given.get("reasoning", 0)}}


def whole(conversation, reply, state):
    output = []
    if "thinking" in reply:
        item = {"type": "reasoning", "id": state.new_id("rs"), "summary": []}
        if conversation["encrypted"]:
            item["encrypted_content"] = state.sign()
        output.append(item)
    refused = reply.get("stop") == "refusal"
    if reply.get("text") or refused:
        part = {"type": "refusal", "refusal": reply.get("text", "I cannot do that.")} if refused else {
            "type": "output_text", "text": reply["text"], "annotations": []}
        output.append({"type": "message", "id": state.new_id("msg"), "status": "completed", "role": "assistant", "content": [part]})
    for call in reply.get("calls", []):
        output.append({"type": "function_call", "id": state.new_id("fc"), "status": "completed", "call_id": call.get("id") or state.new_id("call"),
                       "name": call["name"], "arguments": arguments_text(call)})
    short = reply.get("stop") == "length"
    return {"id": state.new_id("resp"), "object": "response", "status": "incomplete" if short else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if short else None, "error": None,
            "model": conversation["model"] + "-2026-01-01", "output": output, "usage": usage(conversation, reply)}


def events(conversation, reply, state):
    response = whole(conversation, reply, state)
    yield "response.created", {"type": "response.created", "response": {**response, "output": [], "status": "in_progress", "usage": None}}
    for i, item in enumerate(response["output"]):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": i, "item": {"type": item["type"]}}
        if item["type"] == "message" and item["content"][0]["type"] == "output_text":
            for piece in pieces(item["content"][0]["text"]):
                yield "response.output_text.delta", {"type": "response.output_text.delta", "output_index": i, "content_index": 0, "delta": piece}
        if item["type"] == "function_call":
            for piece in pieces(item["arguments"]):
                yield "response.function_call_arguments.delta", {"type": "response.function_call_arguments.delta", "output_index": i, "delta": piece}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": i, "item": item}
    kind = "response." + response["status"]
    yield kind, {"type": kind, "response": response}


def error_event(kind, message):
    return "error", {"type": "error", "code": kind, "message": message, "param": None}


def empty(conversation):
    return {"id": "resp_empty", "object": "response", "status": "completed", "model": conversation["model"], "output": []}


REQUEST_ID = "x-request-id"
LAST = None
