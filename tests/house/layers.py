"""Every #include "x/..." must point to the including module itself or to one that src/CMakeLists.txt lets it see.

layers.py SRC LAYERS. Also: every folder of a district is a module, and no two modules share a name.
"""
import pathlib
import re
import sys

src, layers_file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

ORDER = ["base", "model", "run", "read", "generate", "judge", "search", "apps"]
district, allowed, sees = {}, {}, {}
broken = []
for line in layers_file.read_text().splitlines():
    name, _, deps = line.partition(":")
    if name.startswith("district "):
        sees[name.split()[1]] = set(deps.split())
        continue
    place, module = name.split("/")
    if module in district:
        broken.append(f"two modules are called {module}: in {district[module]} and in {place}")
    district[module], allowed[module] = place, set(deps.split()) | {module}

if list(sees) != ORDER:
    broken.append(f"districts are {', '.join(sees)}, not {', '.join(ORDER)}")
for place, others in sees.items():
    broken += [f"{place} must not see {other}" for other in others if ORDER.index(other) >= ORDER.index(place)]
for module, deps in allowed.items():
    broken += [f"{district[module]}/{module} must not see {district[dep]}/{dep}" for dep in deps
               if district[dep] not in sees[district[module]] | {district[module]}]

folders = {f"{path.parent.name}/{path.name}" for path in src.glob("*/*") if path.is_dir()}
broken += [f"src/{folder} is in no line of src/CMakeLists.txt" for folder in folders
           if folder not in {f"{place}/{module}" for module, place in district.items()}]

for path in sorted(src.glob("*/*/**/*")):
    if path.suffix not in (".h", ".cpp"):
        continue
    module = path.relative_to(src).parts[1]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if not match or re.fullmatch(r"k\w+\.inc", match.group(1)):  # a text kw_embed() made for this very module
            continue
        target = match.group(1).split("/")[0]
        if target not in allowed:
            broken.append(f"{path.relative_to(src)}:{number}: \"{match.group(1)}\" is in no module")
        elif target not in allowed.get(module, set()):
            broken.append(f"{path.relative_to(src)}:{number}: {module} must not see {target}")

print("\n".join(broken) or f"{len(sees)} districts, {len(allowed)} modules, all arrows point downward")
sys.exit(1 if broken else 0)
