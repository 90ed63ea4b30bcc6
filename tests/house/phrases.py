"""Texts are plain English: they name the actor and use the field's usual words (docs/glossary.md).

phrases.py ROOT. Checks the messages of the C++ sources, the comments and messages of the Python package and of embedded device code, and
every text that ships or that a model receives: help, prompts, catalogue, tasks, skill, README. Tests are not checked.
"""
import io
import pathlib
import re
import sys
import tokenize

root = pathlib.Path(sys.argv[1])
BANNED = re.compile(r"\b(?:nobody|somebody|someone|whoever|anybody|wants|(?:came|comes|come) to be|goes on|go on with|gone on with|is none of|"
                    r"(?<!there )(?:is|are) no(?! longer| more| such)|there is nothing left to|so many|so much|to go on|went on|afresh|said anew|"
                    r"speaks? (?:for|against|of)|by heart|(?:is|are) gone|came out|all the same|(?:is|are) wanted|stands? twice|put (?:it|them) back|"
                    r"taken for|cannot be said|(?:is|are) said to|of which|only at the run|commas between)\b", re.I)
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>\w*)\(.*?\)(?P=d)"|"(?:\\.|"\s+"|[^"\\\n])*"', re.S)
# Not sentences of ours: names of users, keys of JSON.
ALLOWED = {'"wants"', '"USER=nobody"', '"LOGNAME=nobody"'}
# Whole files, with a pattern for the names below each folder.
TEXTS = [("README.md", ""), ("CHANGELOG.md", ""), ("Makefile", ""), ("prompts", "*.txt"), ("catalog", "*.toml"), ("suites", "*.t*ml"),
         ("suites", "prompt.txt"), ("skills", "*.md"), ("tools", "*"), ("cmake", "*.cmake"), ("device", "*"), ("src", "*.cuh"), ("src", "*.ptx"),
         ("src", "*.def"), ("src/apps/options/commands.txt", "")]


def messages(text):
    """String literals of C++; adjacent ones are one."""
    return [(one.start(), re.sub(r'"\s+"', "", one[0])) for one in LITERAL.finditer(text) if not one[0].startswith(("//", "/*"))]


def spoken(text):
    """Comments and strings of Python."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(starts[one.start[0] - 1] + one.start[1], one.string) for one in tokens if one.type in kinds]


def files():
    """Every file, and what of it is read."""
    for path in (root / "src").rglob("*"):
        name = str(path.relative_to(root))
        # What src/generate writes is device code.
        if path.suffix in (".h", ".cpp") and not name.endswith(("_test.cpp", "fakes.h", "scripted.h")) and not name.startswith("src/generate"):
            yield path, messages
    for path in (root / "python").rglob("*.py"):
        yield path, spoken
    for name, pattern in TEXTS:
        for path in [root / name] if not pattern else (root / name).rglob(pattern):
            if path.is_file() and path.suffix != ".pyc":
                yield path, lambda text: [(0, text)]


found = []
count = 0
for path, parts in files():
    count += 1
    text = path.read_text()
    for start, words in parts(text):
        if words in ALLOWED:
            continue
        for phrase in BANNED.finditer(re.sub(r"\\[nt]", "  ", re.sub(r"\s", " ", words))):
            line = text.count("\n", 0, start + phrase.start()) + 1
            found.append(f"{path.relative_to(root)}:{line}: '{phrase[0]}' in {words[max(0, phrase.start() - 50):phrase.end() + 50]!r}")
print("\n".join(sorted(found)) or f"no banned phrase in {count} files")
sys.exit(1 if found else 0)
