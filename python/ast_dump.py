"""Prints the syntax tree of the Python file on stdin as one JSON object; never runs it. argv[1]: a file of python/library.

{"tree": node} or {"error": {"message", "line", "column"}}, and from stdin "python": the interpreter's path. A node is {"_": kind,
"at": [line, column, end line, end column], field: node | [nodes] | text}; absent fields are None in Python's ast. Columns
count bytes from 1.
"""
import ast
import json
import sys

DEEPEST = 180


class TooDeep(Exception):
    def __init__(self, node):
        self.node = node


def constant(value):
    if value is None or value is Ellipsis:
        return {"type": "none" if value is None else "ellipsis"}
    if isinstance(value, bool):
        return {"type": "bool", "value": value}
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return {"type": "int", "value": value}
        return {"type": "bigint"}
    if isinstance(value, float):
        finite = value - value == 0
        return {"type": "float", "value": value if finite else str(value)}
    if isinstance(value, str):
        return {"type": "str", "value": value.encode("utf-8", "replace").decode("utf-8")}
    return {"type": type(value).__name__}


def dump(node, depth):
    if depth > DEEPEST:
        raise TooDeep(node)
    result = {"_": type(node).__name__}
    if hasattr(node, "lineno"):
        end_line = node.end_lineno or node.lineno
        end_column = node.end_col_offset or node.col_offset
        result["at"] = [node.lineno, node.col_offset + 1, end_line, end_column + 1]
    if isinstance(node, ast.Constant):
        result.update(constant(node.value))
        return result
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            if not isinstance(value, ast.expr_context):
                result[name] = item(value, depth + 1)
        elif isinstance(value, list):
            result[name] = [item(one, depth + 2) for one in value]
        elif isinstance(value, (str, int)):
            result[name] = value
    return result


def item(one, depth):
    if isinstance(one, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
        return type(one).__name__
    return dump(one, depth) if isinstance(one, ast.AST) else one


def at(message, line, column):
    return {"error": {"message": message, "line": max(line or 1, 1), "column": max(column or 1, 1)}}


def other_encoding(text):
    """The encoding that a coding line names, if it is not UTF-8: our other readers take the file as UTF-8."""
    if b"coding" not in b"".join(text.splitlines()[:2]):
        return None
    import io
    import tokenize
    name = tokenize.detect_encoding(io.BytesIO(text).readline)[0]
    return None if name in ("utf-8", "utf-8-sig") else name


def run(text):
    try:
        encoding = other_encoding(text)
        if encoding:
            return at(f"the coding line names {encoding}; only UTF-8 is read", 1, 1)
        return {"tree": dump(ast.parse(text), 0)}
    except SyntaxError as error:
        column = error.offset or 1
        if error.text and error.lineno:
            column = len(error.text[: column - 1].encode("utf-8", "replace")) + 1
        return at(error.msg or "invalid syntax", error.lineno, column)
    except TooDeep as error:
        node = error.node
        return at("nested too deeply", getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
    except (ValueError, UnicodeError) as error:
        return at(str(error), 1, 1)
    except (RecursionError, MemoryError):
        return at("nested too deeply", 1, 1)


def small(node, places):
    """Without empty lists, annotations and, unless asked for, places."""
    if isinstance(node, list):
        return [small(one, places) for one in node]
    if not isinstance(node, dict):
        return node
    return {name: small(one, places) for name, one in node.items()
            if one != [] and name not in ("annotation", "returns") and (places or name != "at")}


def main():
    sys.setrecursionlimit(5000)
    library = len(sys.argv) > 1
    with open(sys.argv[1], "rb") if library else sys.stdin.buffer as source:
        text = source.read()
    if library:
        # Nodes of an op have the name of the op; others have their text in the file, which needs places.
        result = small(run(text), b"@names(" in text)
    else:
        result = {**run(text), "python": sys.executable or ""}
    json.dump(result, sys.stdout, allow_nan=False, separators=(",", ":"))


main()
