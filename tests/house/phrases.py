"""Texts are plain English: they name the actor and use the field's usual words (docs/glossary.md).

phrases.py ROOT. Checks messages and comments of the C++ sources, of the Python package and of embedded device code, and every text that
ships or that a model receives: help, prompts, catalogue, tasks, skill, README. Tests are not checked.
"""
import io
import pathlib
import re
import sys
import tokenize

root = pathlib.Path(sys.argv[1])
ANYWHERE = (r"nobody|somebody|someone|whoever|anybody|no one|wants|(?:came|comes|come) to be|goes on|go on with|gone on with|is none of|"
            r"(?<!there )(?:is|are) no(?! longer| more| such)|there is nothing left to|to go on|went on|afresh|anew|shall|upon|lest|"
            r"speaks? (?:for|against|of)|by heart|(?:is|are) gone|came out|all the same|(?:is|are) wanted|put (?:it|them) back|"
            r"cannot be said|(?:is|are) said to|only at the run|commas between|"
            r"is there twice|is not here|gets here as it is written|(?:going|goes) round")
IN_COMMENTS = re.compile(rf"\b(?:{ANYWHERE})\b", re.I)
BANNED = re.compile(rf"\b(?:{ANYWHERE}|so many|so much|of which|taken for|stands?(?! for|-in)|stood|goes over|is one as well)\b", re.I)
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>\w*)\(.*?\)(?P=d)"|"(?:\\.|"\s+"|[^"\\\n])*"', re.S)
# Not sentences of ours: names of users, keys of JSON.
ALLOWED = {'"wants"', '"anew"', '"USER=nobody"', '"LOGNAME=nobody"'}
# Whole files, with a pattern for the names below each folder.
TEXTS = [("README.md", ""), ("CHANGELOG.md", ""), ("Makefile", ""), ("prompts", "*.txt"), ("catalog", "*.toml"), ("suites", "*.t*ml"),
         ("suites", "prompt.txt"), ("skills", "*.md"), ("tools", "*"), ("cmake", "*.cmake"), ("device", "*"), ("src", "*.cuh"), ("src", "*.ptx"),
         ("src", "*.def"), ("src/apps/options/commands.txt", "")]


def messages(text):
    """String literals of C++; adjacent ones are one."""
    return [(one.start(), re.sub(r'"\s+"', "", one[0])) for one in LITERAL.finditer(text) if not one[0].startswith(("//", "/*"))]


def comments(text):
    """Comments of C++; lines that follow each other are one."""
    found = []
    for one in LITERAL.finditer(text):
        if not one[0].startswith(("//", "/*")):
            continue
        if found and not text[found[-1][0] + len(found[-1][1]):one.start()].strip():
            found[-1] = (found[-1][0], text[found[-1][0]:one.end()])
        else:
            found.append((one.start(), one[0]))
    return found


def spoken(text):
    """Comments and strings of Python."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(starts[one.start[0] - 1] + one.start[1], one.string) for one in tokens if one.type in kinds]


def files():
    """Every file, what of it is read, and what is banned there."""
    for path in (root / "src").rglob("*"):
        name = str(path.relative_to(root))
        if path.suffix in (".h", ".cpp") and not name.endswith(("_test.cpp", "fakes.h", "scripted.h")):
            yield path, comments, IN_COMMENTS
            if not name.startswith("src/generate"):  # what it writes is device code
                yield path, messages, BANNED
    for path in (root / "python").rglob("*.py"):
        yield path, spoken, BANNED
    for name, pattern in TEXTS:
        for path in [root / name] if not pattern else (root / name).rglob(pattern):
            if path.is_file() and path.suffix != ".pyc":
                yield path, lambda text: [(0, text)], BANNED


found = []
read = set()
for path, parts, banned in files():
    read.add(path)
    text = path.read_text()
    for start, words in parts(text):
        if words in ALLOWED:
            continue
        plain = re.sub(r"(?:\\[nt]|\s|(?<=\s)///?)+", " ", words)
        for phrase in banned.finditer(plain):
            place = re.search(r"(?:\\[nt]|[\s/])+".join(map(re.escape, phrase[0].split())), words)
            line = text.count("\n", 0, start + place.start()) + 1
            found.append(f"{path.relative_to(root)}:{line}: '{phrase[0]}' in {plain[max(0, phrase.start() - 50):phrase.end() + 50]!r}")
print("\n".join(sorted(found)) or f"no banned phrase in {len(read)} files")
sys.exit(1 if found else 0)
