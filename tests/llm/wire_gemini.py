"""Google's generateContent, as strict as the vendor."""
import json
import re

from strict import arguments_value, check_schema, is_int, is_number, need, only, pieces, tokens

PATH = re.compile(r"^/v1beta/models/([A-Za-z0-9._-]+):(generateContent|streamGenerateContent)$")
FIELDS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent"}
UNKNOWN = "Invalid JSON payload received. Unknown name \"{key}\" at '{where}': Cannot find field."
SCHEMA_KEYS = {"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minLength",
               "maxLength", "minimum", "maximum", "pattern", "items", "anyOf"}
STOPS = {"end": "STOP", "tool_use": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$")


def authorize(headers, key):
    need(headers.get("x-goog-api-key") == key, "API key not valid. Please pass a valid API key.", status=400, kind="API_KEY_INVALID")


def error(status, kind, message, param=None):
    names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT",
             429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE"}
    body = {"code": status, "message": message, "status": names.get(status, "UNKNOWN")}
    if kind:
        body["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": kind}]
    return {"error": body}


def check_tools(body):
    tools = []
    for i, tool in enumerate(body.get("tools", [])):
        only(tool, {"functionDeclarations"}, f"tools[{i}]", UNKNOWN)
        for j, function in enumerate(tool.get("functionDeclarations", [])):
            where = f"tools[{i}].function_declarations[{j}]"
            only(function, {"name", "description", "parameters"}, where, UNKNOWN)
            need(isinstance(function.get("name"), str) and NAME.match(function["name"]), f"{where}.name: Invalid function name.")
            need(function["name"] not in [one["name"] for one in tools], f"Duplicate function declaration found: {function['name']}")
            if "parameters" in function:
                check_schema(function["parameters"], where + ".parameters", SCHEMA_KEYS)
                need(function["parameters"].get("properties"), f"{where}.parameters.properties: should be non-empty for OBJECT type")
            tools.append({"name": function["name"], "description": function.get("description", ""), "schema": function.get("parameters", {})})
    return tools


def check_part(part, role, where, message, state, needs_signature):
    only(part, {"text", "functionCall", "functionResponse", "thoughtSignature", "thought"}, where, UNKNOWN)
    signature = part.get("thoughtSignature")
    need(signature in (None, "skip_thought_signature_validator") or signature in state.signatures, "Invalid thought signature.")
    if "functionCall" in part:
        call = part["functionCall"]
        only(call, {"name", "args", "id"}, where + ".function_call", UNKNOWN)
        need(role == "model", "Function call parts are only allowed in a model turn.")
        need(isinstance(call.get("args", {}), dict), f"{where}.function_call.args: must be an object")
        need(signature or not needs_signature or message["calls"], "Function call is missing a thought_signature in functionCall parts.")
        message["calls"].append({"id": call.get("id", ""), "name": call.get("name"), "arguments": call.get("args", {})})
    elif "functionResponse" in part:
        response = part["functionResponse"]
        only(response, {"name", "response", "id"}, where + ".function_response", UNKNOWN)
        need(role == "user", "Function response parts are only allowed in a user turn.")
        need(isinstance(response.get("response"), dict), f"{where}.function_response.response: must be an object")
        value = response["response"]
        message["results"].append({"call_id": response.get("id", ""), "name": response.get("name"),
                                   "content": str(value.get("output", value.get("error", value))), "failed": "error" in value})
    else:
        need(isinstance(part.get("text"), str), f"{where}.data: required oneof field 'data' must have one initialized field")
        if not part.get("thought"):
            message["text"] += part["text"]


def check_contents(given, model, state):
    need(isinstance(given, list) and given, "* GenerateContentRequest.contents: contents is not specified")
    out = []
    for i, turn in enumerate(given):
        where = f"contents[{i}]"
        only(turn, {"role", "parts"}, where, UNKNOWN)
        role = turn.get("role")
        need(role in ("user", "model"), "Please use a valid role: user, model.")
        need(isinstance(turn.get("parts"), list) and turn["parts"], f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.")
        message = {"role": "user" if role == "user" else "assistant", "text": "", "calls": [], "results": []}
        signed = model.startswith("gemini-3")
        for j, part in enumerate(turn["parts"]):
            check_part(part, role, f"{where}.parts[{j}]", message, state, signed)
        need(not message["calls"] or (out and out[-1]["role"] == "user"),
             "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
        asked = out[-1]["calls"] if out else []
        need(len(message["results"]) == len(asked), "Please ensure that the number of function response parts is equal to the number of function "
                                                    "call parts of the function call turn.")
        for call, result in zip(asked, message["results"]):
            need(call["name"] == result["name"], "Please ensure that function response turn comes immediately after a function call turn.")
            need(not result["call_id"] or result["call_id"] == call["id"], "The function response id does not match the function call.")
        out.append(message)
    need(out[-1]["role"] == "user", "Please ensure that single turn requests end with a user role.")
    return out


def check_config(config, model):
    only(config, {"maxOutputTokens", "temperature", "topP", "topK", "stopSequences", "thinkingConfig", "candidateCount"}, "generation_config", UNKNOWN)
    need(is_int(config.get("maxOutputTokens", 1)) and config.get("maxOutputTokens", 1) >= 1, "max_output_tokens must be positive.")
    need(is_number(config.get("temperature", 0)) and 0 <= config.get("temperature", 0) <= 2, "temperature must be in the range [0.0, 2.0].")
    thinking = config.get("thinkingConfig")
    if thinking is None:
        return
    only(thinking, {"thinkingBudget", "thinkingLevel", "includeThoughts"}, "generation_config.thinking_config", UNKNOWN)
    need(not model.startswith("gemini-2.0"), "Thinking is not enabled for this model.")
    if model.startswith("gemini-2.5"):
        need(is_int(thinking.get("thinkingBudget")), "thinking_level is not supported by this model.")
    else:
        need(thinking.get("thinkingLevel") in ("low", "high"), "thinking_level: unknown")


def read(path, query, body, state):
    model, method = PATH.match(path).groups()
    need(model.startswith("gemini-"), f"models/{model} is not found for API version v1beta, or is not supported for generateContent.", status=404)
    only(body, FIELDS, "request", UNKNOWN)
    config = body.get("generationConfig", {})
    check_config(config, model)
    system = ""
    if "systemInstruction" in body:
        only(body["systemInstruction"], {"parts", "role"}, "system_instruction", UNKNOWN)
        system = "\n".join(part["text"] for part in body["systemInstruction"]["parts"])
    tools = check_tools(body)
    stream = method == "streamGenerateContent"
    need(not stream or query == "alt=sse", "this server streams as alt=sse only")
    return {"model": model, "system": system, "messages": check_contents(body.get("contents"), model, state), "tools": tools,
            "max_tokens": config.get("maxOutputTokens"), "temperature": config.get("temperature"), "reasoning": config.get("thinkingConfig"),
            "stop": config.get("stopSequences", []), "stream": stream, "cache_marks": 0,
            "cached": state.caches.automatic(system + json.dumps(tools) + json.dumps(body["contents"]))}


def usage(conversation, reply):
    read_, _, rest = conversation["cached"]
    given = reply.get("usage", {})
    out = given.get("output", tokens(reply.get("text", "") + json.dumps(reply.get("calls", []))))
    thoughts = given.get("reasoning", 0)
    prompt = given.get("input", rest) + given.get("cache_read", read_)
    return {"promptTokenCount": prompt, "candidatesTokenCount": out - thoughts, "thoughtsTokenCount": thoughts,
            "cachedContentTokenCount": given.get("cache_read", read_), "totalTokenCount": prompt + out}


def call_parts(conversation, reply, state):
    parts = []
    for i, call in enumerate(reply.get("calls", [])):
        arguments = arguments_value(call)
        part = {"functionCall": {"name": call["name"], "args": arguments}}
        if call.get("id"):
            part["functionCall"]["id"] = call["id"]
        if i == 0 and ("thinking" in reply or conversation["model"].startswith("gemini-3")):
            part["thoughtSignature"] = state.sign()
        parts.append(part)
    return parts


def candidate(parts, finish=None):
    out = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        out["finishReason"] = finish
    return out


def stop(reply):
    return STOPS.get(reply.get("stop"), reply.get("stop")) or "STOP"


def whole(conversation, reply, state):
    parts = [{"text": reply["thinking"], "thought": True}] if "thinking" in reply else []
    parts += [{"text": reply["text"]}] if reply.get("text") else []
    parts += call_parts(conversation, reply, state)
    return {"candidates": [candidate(parts, stop(reply))], "usageMetadata": usage(conversation, reply), "modelVersion": conversation["model"],
            "responseId": state.new_id("r")}


def events(conversation, reply, state):
    parts = [{"text": reply["thinking"], "thought": True}] if "thinking" in reply else []
    parts += [{"text": piece} for piece in pieces(reply.get("text", ""))] + call_parts(conversation, reply, state)
    for part in parts:
        yield "", {"candidates": [candidate([part])], "modelVersion": conversation["model"]}
    yield "", {"candidates": [candidate([], stop(reply))], "usageMetadata": usage(conversation, reply), "modelVersion": conversation["model"]}


def error_event(kind, message):
    return "", {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}}


def empty(conversation):
    return {"candidates": [], "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}, "modelVersion": conversation["model"]}


REQUEST_ID = "x-request-id"
LAST = None
