"""OpenAI's chat completions, as strict as the vendor."""
import json
import re

from strict import TOOL_NAME, Rejected, arguments_text, check_schema, is_int, is_number, need, only, pieces, tokens

PATH = re.compile(r"^/v1/chat/completions$")
FIELDS = {"model", "messages", "tools", "tool_choice", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "stream",
          "stream_options", "reasoning_effort", "n", "seed", "user", "response_format", "parallel_tool_calls", "store"}
UNKNOWN = "Unrecognized request argument supplied: {key}"
REASONING = re.compile(r"^(o[1-9]|gpt-5)")
STOPS = {"end": "stop", "tool_use": "tool_calls", "length": "length", "refusal": "stop"}


def authorize(headers, key):
    given = headers.get("authorization", "")
    need(given == f"Bearer {key}", f"Incorrect API key provided: {given.removeprefix('Bearer ')}. You can find your API key at your account page.",
         status=401, kind="invalid_api_key")


def error(status, kind, message, param=None):
    kinds = {401: "invalid_request_error", 429: "requests", 500: "server_error", 503: "server_error"}
    code = kind or {404: "model_not_found", 429: "rate_limit_exceeded", 413: "context_length_exceeded"}.get(status)
    return {"error": {"message": message, "type": kinds.get(status, "invalid_request_error"), "param": param, "code": code}}


def check_tools(body):
    tools, names = [], set()
    for i, tool in enumerate(body.get("tools", [])):
        where = f"tools[{i}]"
        only(tool, {"type", "function"}, where, "Unknown parameter: '{where}.{key}'.")
        need(tool.get("type") == "function", f"Invalid value: '{tool.get('type')}'. Supported values are: 'function'.")
        function = tool.get("function")
        only(function, {"name", "description", "parameters", "strict"}, where + ".function", "Unknown parameter: '{where}.{key}'.")
        name = function.get("name")
        need(isinstance(name, str) and TOOL_NAME.match(name), f"Invalid '{where}.function.name': string does not match pattern.")
        need(name not in names, f"Duplicate function name: {name}")
        names.add(name)
        if "parameters" in function:
            check_schema(function["parameters"], f"{where}.function.parameters")
        tools.append({"name": name, "description": function.get("description", ""), "schema": function.get("parameters", {})})
    return tools


def check_assistant(turn, where):
    only(turn, {"role", "content", "tool_calls", "refusal", "name"}, where, "Unknown parameter: '{where}.{key}'.")
    calls = []
    for call in turn.get("tool_calls", []):
        only(call, {"id", "type", "function"}, where + ".tool_calls", "Unknown parameter: '{where}.{key}'.")
        need(isinstance(call.get("id"), str) and call["id"], f"Missing required parameter: '{where}.tool_calls[0].id'.")
        need(call.get("type") == "function", f"Missing required parameter: '{where}.tool_calls[0].type'.")
        function = call.get("function", {})
        need(isinstance(function.get("arguments"), str), f"Invalid type for '{where}.tool_calls[0].function.arguments': expected a string")
        calls.append({"id": call["id"], "name": function.get("name"), "arguments": function["arguments"]})
    need(isinstance(turn.get("content"), str) or calls, f"Invalid value for 'content': expected a string, got null. ({where})")
    return {"role": "assistant", "text": turn.get("content") or "", "calls": calls, "results": []}


def check_messages(given):
    need(isinstance(given, list) and given, "Invalid 'messages': empty array. Expected an array with minimum length 1.")
    system, out, open_calls = [], [], {}
    for i, turn in enumerate(given):
        where = f"messages[{i}]"
        need(isinstance(turn, dict), f"Invalid type for '{where}': expected an object")
        role = turn.get("role")
        if role == "tool":
            only(turn, {"role", "tool_call_id", "content"}, where, "Unknown parameter: '{where}.{key}'.")
            name = open_calls.pop(turn.get("tool_call_id"), None)
            need(name is not None, f"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. ({where})")
            need(isinstance(turn.get("content"), str), f"Invalid type for '{where}.content'")
            if out[-1]["role"] != "user":
                out.append({"role": "user", "text": "", "calls": [], "results": []})
            out[-1]["results"].append({"call_id": turn["tool_call_id"], "name": name, "content": turn["content"],
                                       "failed": turn["content"].startswith("error: ")})
            continue
        need(not open_calls, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
                             "The following tool_call_ids did not have response messages: " + ", ".join(open_calls))
        if role in ("system", "developer"):
            only(turn, {"role", "content"}, where, "Unknown parameter: '{where}.{key}'.")
            need(isinstance(turn.get("content"), str), f"Invalid type for '{where}.content'")
            system.append(turn["content"])
        elif role == "user":
            only(turn, {"role", "content"}, where, "Unknown parameter: '{where}.{key}'.")
            need(isinstance(turn.get("content"), str), f"Invalid type for '{where}.content'")
            if out and out[-1]["role"] == "user" and out[-1]["results"]:
                out[-1]["text"] += turn["content"]
            else:
                out.append({"role": "user", "text": turn["content"], "calls": [], "results": []})
        elif role == "assistant":
            out.append(check_assistant(turn, where))
            open_calls = {call["id"]: call["name"] for call in out[-1]["calls"]}
        else:
            raise Rejected(f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.")
    need(not open_calls, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.")
    return "\n".join(system), out


def read(path, query, body, state):
    only(body, FIELDS, "body", UNKNOWN)
    model = body.get("model")
    need(isinstance(model, str) and model, "you must provide a model parameter")
    need(not model.startswith("unknown"), f"The model `{model}` does not exist or you do not have access to it.", status=404)
    reasoning = REASONING.match(model)
    if reasoning:
        need("max_tokens" not in body, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
        need("stop" not in body, "Unsupported parameter: 'stop' is not supported with this model.")
        need(body.get("temperature", 1) == 1, "Unsupported value: 'temperature' does not support this value with this model. Only the default (1) "
                                              "value is supported.")
    need("reasoning_effort" not in body or reasoning, "Unrecognized request argument supplied: reasoning_effort")
    need(body.get("reasoning_effort", "low") in ("none", "minimal", "low", "medium", "high", "xhigh"), "Invalid value: 'reasoning_effort'")
    if "temperature" in body:
        need(is_number(body["temperature"]) and 0 <= body["temperature"] <= 2, "Invalid 'temperature': must be between 0 and 2")
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    need(limit is None or is_int(limit) and limit >= 1, "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1.")
    need("stream_options" not in body or body.get("stream"), "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    tools = check_tools(body)
    system, messages = check_messages(body.get("messages"))
    return {"model": model, "system": system, "messages": messages, "tools": tools, "max_tokens": limit,
            "temperature": body.get("temperature"), "reasoning": body.get("reasoning_effort"), "stop": body.get("stop", []),
            "stream": bool(body.get("stream")), "cache_marks": 0, "usage_in_stream": body.get("stream_options", {}).get("include_usage", False),
            "cached": state.caches.automatic(json.dumps(tools) + json.dumps(body["messages"]))}


def usage(conversation, reply):
    read_, _, rest = conversation["cached"]
    given = reply.get("usage", {})
    out = given.get("output", tokens(reply.get("text", "") + json.dumps(reply.get("calls", []))))
    prompt = given.get("input", rest) + given.get("cache_read", read_)
    return {"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out,
            "prompt_tokens_details": {"cached_tokens": given.get("cache_read", read_)},
            "completion_tokens_details": {"reasoning_tokens": given.get("reasoning", 0)}}


def stop(reply):
    return STOPS.get(reply.get("stop"), reply.get("stop")) or ("tool_calls" if reply.get("calls") else "stop")


def tool_calls(reply, state):
    return [{"id": call.get("id") or state.new_id("call"), "type": "function",
             "function": {"name": call["name"], "arguments": arguments_text(call)}} for call in reply.get("calls", [])]


def whole(conversation, reply, state):
    refused = reply.get("stop") == "refusal"
    message = {"role": "assistant", "content": None if refused else reply.get("text") or None,
               "refusal": reply.get("text", "I cannot do that.") if refused else None}
    if reply.get("calls"):
        message["tool_calls"] = tool_calls(reply, state)
    return {"id": state.new_id("chatcmpl"), "object": "chat.completion", "created": 1, "model": conversation["model"] + "-2026-01-01",
            "choices": [{"index": 0, "message": message, "finish_reason": stop(reply)}], "usage": usage(conversation, reply)}


def events(conversation, reply, state):
    base = {"id": state.new_id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": conversation["model"] + "-2026-01-01"}

    def chunk(delta, finish=None):
        return "", {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    yield chunk({"role": "assistant", "content": ""})
    field = "refusal" if reply.get("stop") == "refusal" else "content"
    for piece in pieces(reply.get("text", "I cannot do that." if field == "refusal" else "")):
        yield chunk({field: piece})
    for i, call in enumerate(tool_calls(reply, state)):
        text = call["function"]["arguments"]
        yield chunk({"tool_calls": [{"index": i, "id": call["id"], "type": "function",
                                     "function": {"name": call["function"]["name"], "arguments": ""}}]})
        for piece in pieces(text):
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
    yield chunk({}, stop(reply))
    if conversation["usage_in_stream"]:
        yield "", {**base, "choices": [], "usage": usage(conversation, reply)}


def error_event(kind, message):
    return "", {"error": {"message": message, "type": "server_error", "code": kind}}


def empty(conversation):
    return {"id": "chatcmpl_empty", "object": "chat.completion", "model": conversation["model"], "choices": []}


REQUEST_ID = "x-request-id"
LAST = "data: [DONE]\n\n"
