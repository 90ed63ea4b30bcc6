"""What the strict model server's four wire formats share: rejecting, checking JSON, counting tokens."""
import json
import re

TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
SCHEMA_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


class Rejected(Exception):
    """The request is not one the vendor would take."""

    def __init__(self, message, status=400, kind="", param=None):
        super().__init__(message)
        self.message, self.status, self.kind, self.param = message, status, kind, param


def need(condition, message, **details):
    if not condition:
        raise Rejected(message, **details)


def only(value, known, where, unknown):
    """Every key of `value` is known; `unknown` words the vendor's complaint with {key} and {where}."""
    need(isinstance(value, dict), f"{where}: expected an object")
    for key in value:
        need(key in known, unknown.format(key=key, where=where), param=key)


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_schema(schema, where, keys=None, top=True):
    """A JSON schema of an object, well formed; `keys` limits the vocabulary."""
    need(isinstance(schema, dict), f"{where}: a schema must be an object")
    kind = schema.get("type")
    if top:
        need(kind == "object", f"{where}: schema must be of type 'object', got {kind!r}")
    if kind is not None:
        kinds = kind if isinstance(kind, list) else [kind]
        for one in kinds:
            need(isinstance(one, str) and one.lower() in SCHEMA_TYPES, f"{where}: {one!r} is not a valid type")
    for key, value in schema.items():
        need(keys is None or key in keys, f"Invalid JSON payload received. Unknown name \"{key}\" at '{where}': Cannot find field.")
        if key == "properties":
            need(isinstance(value, dict), f"{where}.properties: must be an object")
            for name, inner in value.items():
                check_schema(inner, f"{where}.properties.{name}", keys, top=False)
        elif key == "items":
            check_schema(value, f"{where}.items", keys, top=False)
        elif key == "required":
            need(isinstance(value, list) and all(isinstance(one, str) for one in value), f"{where}.required: must be a list of names")
            for one in value:
                need(one in schema.get("properties", {}), f"{where}.required: '{one}' is not a property")
        elif key == "enum":
            need(isinstance(value, list) and value, f"{where}.enum: must be a non-empty list")
    if kind == "array":
        need("items" in schema, f"{where}: array schema missing items")


def tokens(text):
    return max(1, (len(text.encode()) + 3) // 4)


def pieces(text, size=17):
    """A text as a model streams it."""
    return [text[i:i + size] for i in range(0, len(text), size)]


def shared_prefix(a, b):
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low


class Caches:
    """Prompt caches as the vendors have them: prefixes of at least 1024 tokens."""

    LEAST = 1024

    def __init__(self):
        self.marked, self.seen = set(), []

    def by_marks(self, prefixes, whole):
        """(read, write, rest) in tokens; `prefixes` are the texts up to each mark."""
        read = max((tokens(p) for p in prefixes if p in self.marked), default=0)
        long = [p for p in prefixes if tokens(p) >= self.LEAST]
        write = max((tokens(p) for p in long), default=0) - read
        self.marked.update(long)
        return read, max(0, write), max(0, tokens(whole) - read - max(0, write))

    def automatic(self, whole):
        """(read, 0, rest): the longest prefix shared with an earlier prompt, in steps of 128."""
        best = max((shared_prefix(earlier, whole) for earlier in self.seen), default=0)
        self.seen.append(whole)
        read = best // 4 // 128 * 128
        read = read if read >= self.LEAST else 0
        return read, 0, max(0, tokens(whole) - read)


def arguments_text(call):
    """Arguments of a scripted call: an object, or a text that need not be JSON."""
    arguments = call.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def arguments_value(call):
    """The same where the format has no room for broken JSON."""
    arguments = call.get("arguments", {})
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments
    return arguments
