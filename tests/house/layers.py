"""Every #include "x/..." must point to the including folder itself or to one declared below it in src/CMakeLists.txt."""
import pathlib
import re
import sys

src, layers_file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

allowed = {}
for line in layers_file.read_text().splitlines():
    name, _, deps = line.partition(":")
    allowed[name] = set(deps.split()) | {name}

broken = []
for path in sorted(src.rglob("*")):
    if path.suffix not in (".h", ".cpp"):
        continue
    folder = path.relative_to(src).parts[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if not match or re.fullmatch(r"k\w+\.inc", match.group(1)):  # a text kw_embed() made for this very module
            continue
        target = match.group(1).split("/")[0]
        if target not in allowed:
            broken.append(f"{path.relative_to(src)}:{number}: \"{match.group(1)}\" is in no module")
        elif target not in allowed[folder]:
            broken.append(f"{path.relative_to(src)}:{number}: {folder} must not see {target}")

# The fence must be able to catch something: a noun that could see a verb would be a hole in it.
if "engine" in allowed["base"]:
    broken.append("base may see engine: the declaration order is broken")
print("\n".join(broken) or f"{len(allowed)} modules, all arrows point downward")
sys.exit(1 if broken else 0)
