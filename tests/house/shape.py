"""Classes have at most 40 methods and functions at most 60 lines; exceptions are named with a reason in tests/shape_budget.txt.

    shape.py ROOT

Methods are counted as declared in the class. A function's lines run from its signature to its closing brace; rows of a table
(a list in braces behind `return` or `=`) do not count. Functions of src/generate are left out: their text is the kernel's.
tools/house-figures counts with the same functions.
"""
import pathlib
import re
import sys

MOST_METHODS, MOST_LINES = 40, 60
CLASS = re.compile(r"^\s*(?:class|struct) (\w+)[^;{]*\{", re.M)
METHOD = re.compile(r"(?:\b(?!alignas|decltype|noexcept|requires)~?\w+|\boperator\W+?)\(\)(?![>,])")
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
SCOPE = re.compile(r"(?:template\s*<.*?>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b[^(]*$|"
                   r"(?:template\s*<.*?>\s*)?(?:class|struct|union|enum)\b", re.S)
TABLE = re.compile(r"(?:\breturn|=)\s*\{")


def classes(text):
    """The name and the number of methods of every class."""
    text = TEXT.sub("", text)
    for found in CLASS.finditer(text):
        own, depth = [], {"{": 1, "(": 0}
        for letter in text[found.end():closing(text, found.end())]:
            depth["{"] += {"{": 1, "}": -1}.get(letter, 0)
            depth["("] -= letter == ")"
            if depth["{"] == 1 and depth["("] == 0:
                own.append(letter)
            depth["("] += letter == "("
        body = re.sub(r"\)\s*:\s[^;}]*|=[^;}]*", ")", "".join(own))  # values of members, and of a constructor's
        yield found[1], len(METHOD.findall(body))


def functions(text):
    """The name and the number of lines of every function."""
    text = TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    start = at = 0
    while (found := re.compile(r"[;{}]").search(text, at)) is not None:
        at = found.end()
        if found[0] != "{":
            start = at
            continue
        head = text[start:found.start()].strip()
        if SCOPE.match(head):
            start = at
            continue
        at = closing(text, at)
        if re.match(r"\s*[,{]", text[at:]):  # a member's value before the body of a constructor
            continue
        name = name_of(head)
        if name and not head.endswith("="):
            whole = text[start:at].lstrip()
            yield name[1], whole.count("\n") + 1 - rows(whole[len(head):])
        start = at


def closing(text, at):
    """Where the brace that was opened before `at` has been closed."""
    depth = 1
    while at < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def name_of(head):
    while (plain := re.sub(r"<[^<>]*>", "", head)) != head:
        head = plain
    return re.search(r"([~\w:]+|operator\W+)\(", head)


def rows(body):
    count = at = 0
    while (found := TABLE.search(body, at)) is not None:
        at = closing(body, found.end())
        count += body.count("\n", found.end(), at)
    return count


def large(root):
    """(path, name, what is wrong) of everything above a limit."""
    for path in sorted((root / "src").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cpp") or name.endswith("_test.cpp"):
            continue
        text = path.read_text()
        for one, methods in classes(text):
            if methods > MOST_METHODS:
                yield name, one, f"{methods} methods, limit {MOST_METHODS}"
        if not name.startswith("src/generate/"):
            for one, lines in functions(text):
                if lines > MOST_LINES:
                    yield name, one, f"{lines} lines, limit {MOST_LINES}"


def main():
    root = pathlib.Path(sys.argv[1])
    excused = {}
    for line in (root / "tests/shape_budget.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            path, name, reason = (line.split(None, 2) + ["", ""])[:3]
            excused[path, name] = reason
    problems, seen = [], set()
    for path, name, what in large(root):
        seen.add((path, name))
        if not excused.get((path, name)):
            problems.append(f"{path}: {name}: {what}; split it along its meaning, or give a reason in tests/shape_budget.txt")
    for path, name in sorted(set(excused) - seen):
        problems.append(f"tests/shape_budget.txt: {path} {name} is within its limit; delete the line")
    print("\n".join(problems) or "all classes and functions within their limits")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
