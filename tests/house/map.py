"""The map of the house is true: docs/architecture.md and the districts' READMEs name files and functions that exist.

map.py ROOT. The list of modules in docs/architecture.md repeats src/CMakeLists.txt; KW_UPDATE_GOLDEN=1 writes it anew.
"""
import os
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
page = root / "docs/architecture.md"
BEGIN, END = re.compile(r"<!-- modules: begin.*?-->\n"), "<!-- modules: end -->"
PATH = re.compile(r"`((?:src|python|catalog|tests|docs|apps|prompts|suites)/[\w./*]+)`(?: \(`(?:\w+::)?(\w+)`\))?")

# What is added or changed most often: the table says where.
EVERYDAY = ("a pointwise op", "a PyTorch function", "shuffle", "a check of the virtual GPU", "a check of the gate", "pass threshold", "a family of inputs",
            "a lint rule", "a schedule", "an optimisation method", "a provider", "a task format", "a suite", "a message", "a prompt", "an option",
            "a command", "exports")


def modules():
    """District by district: its line, and its modules' lines of src/CMakeLists.txt."""
    lines, comment = [], ""
    for line in (root / "src/CMakeLists.txt").read_text().splitlines():
        if line.startswith("# "):
            comment = line[2:]
        elif found := re.match(r"kw_district\((\w+)(?: SEES ([\w ]+))?\)", line):
            lines.append(f"\n**{found[1]}** ({comment}; sees {(found[2] or 'nothing').replace(' ', ', ')})\n")
        elif found := re.match(r"kw_module\((\w+)", line):
            lines.append(f"- `{found[1]}`: {comment}")
    return "\n".join(lines).strip() + "\n"


def problems_of(path):
    text = path.read_text()
    for name, symbol in PATH.findall(text):
        places = sorted(root.glob(name)) if "*" in name else [root / name]
        if not places or not all(place.exists() for place in places):
            yield f"{path.relative_to(root)}: {name} does not exist"
        elif symbol and not any(re.search(rf"\b{symbol}\b", place.read_text()) for place in places if place.is_file()):
            yield f"{path.relative_to(root)}: {name} has no {symbol}"


text = page.read_text()
begin = BEGIN.search(text)
end = text.index(END)
wanted = text[:begin.end()] + "\n" + modules() + "\n" + text[end:]
problems = []
if os.environ.get("KW_UPDATE_GOLDEN") == "1":
    page.write_text(wanted)
elif text != wanted:
    problems.append("docs/architecture.md: the list of modules is not that of src/CMakeLists.txt; "
                    "run KW_UPDATE_GOLDEN=1 python3 -B tests/house/map.py")
first_cells = "\n".join(re.findall(r"^\| ([^|]+) \|", text[text.index("## Where do I add"):text.index("## Walks")], re.M))
problems += [f"docs/architecture.md: no row of \"Where do I add\" names {what}" for what in EVERYDAY if what not in first_cells]
pages = [page]
for district in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
    pages.append(district / "README.md")
for one in pages:
    if not one.exists():
        problems.append(f"{one.relative_to(root)} is missing")
    else:
        if one != page and len(re.findall(r"^\d\. `src/", one.read_text(), re.M)) != 2:
            problems.append(f"{one.relative_to(root)} does not name two files to read first")
        problems += [f"{one.relative_to(root)} does not name the module {path.name}" for path in sorted(one.parent.iterdir())
                     if path.is_dir() and one != page and f"`{path.name}`" not in one.read_text()]
        problems += problems_of(one)
print("\n".join(problems) or f"{len(pages)} pages are true")
sys.exit(1 if problems else 0)
