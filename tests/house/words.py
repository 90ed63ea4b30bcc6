"""No file speaks of unfinished work; comments and documents say what is, not what will be."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".md", ".py", ".txt", ".cmake"}

found = []
for folder in ("src", "apps", "tests", "bench", "docs", "device", "examples", "cmake", "tools"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in SUFFIXES or path.name == "words.py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if UNFINISHED.search(line):
                found.append(f"{path.relative_to(root)}:{number}: {line.strip()}")
print("\n".join(found) or "no unfinished words")
sys.exit(1 if found else 0)
