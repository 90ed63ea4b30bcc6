"""Messages and help are plain English: they name the actor and use the field's usual words (docs/glossary.md).

phrases.py ROOT. Looks at the string literals of src, tests apart, and at the texts of commands.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
BANNED = re.compile(r"\b(?:nobody|somebody|someone|whoever|anybody|wants|(?:came|comes|come) to be|goes on|go on with|gone on with|is none of|"
                    r"(?<!there )(?:is|are) no(?! longer| more| such)|there is nothing left to)\b", re.I)
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>\w*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"', re.S)
# Not sentences of ours: names of users, keys of JSON. What src/generate writes is device code.
ALLOWED = {'"wants"', '"USER=nobody"', '"LOGNAME=nobody"'}

found = []
for path in sorted((root / "src").rglob("*")):
    name = str(path.relative_to(root))
    if path.suffix not in (".h", ".cpp") or name.endswith(("_test.cpp", "fakes.h", "scripted.h")) or name.startswith("src/generate"):
        continue
    text = path.read_text()
    for literal in LITERAL.finditer(text):
        words = literal[0]
        if words.startswith(("//", "/*")) or words in ALLOWED:
            continue
        for phrase in BANNED.findall(words):
            found.append(f"{name}:{text.count(chr(10), 0, literal.start()) + 1}: '{phrase}' in {words[:100]}")
commands = root / "src/apps/options/commands.txt"
for number, line in enumerate(commands.read_text().splitlines(), 1):
    found += [f"{commands.relative_to(root)}:{number}: '{phrase}'" for phrase in BANNED.findall(line)]
print("\n".join(found) or "no message uses a banned phrase")
sys.exit(1 if found else 0)
