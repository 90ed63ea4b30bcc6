"""Headers stay within 250 lines, sources within 600; exceptions are named with a reason in tests/size_budget.txt.

Sources above 150 lines open with a short essay: problem, choice, alternative, cost.
"""
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
LIMITS = {".h": 250, ".cpp": 600}
ESSAY = 150

excused = {}
for line in (root / "tests/size_budget.txt").read_text().splitlines():
    if line.strip() and not line.startswith("#"):
        name, _, reason = line.partition(" ")
        excused[name] = reason.strip()

problems, seen = [], set()
for folder in ("src", "apps", "device"):
    for path in sorted((root / folder).rglob("*")):
        limit = LIMITS.get(path.suffix)
        name = str(path.relative_to(root))
        if limit is None or name.endswith("_test.cpp"):
            continue
        text = path.read_text()
        lines = len(text.splitlines())
        if path.suffix == ".cpp" and lines > ESSAY and not text.startswith("//"):
            problems.append(f"{name}: {lines} lines, and no essay at its beginning")
        if lines <= limit:
            continue
        seen.add(name)
        if not excused.get(name):
            problems.append(f"{name}: {lines} lines, limit {limit}; split it, or give a reason in tests/size_budget.txt")
for name in sorted(set(excused) - seen):
    problems.append(f"tests/size_budget.txt: {name} is within its budget; delete the line")
print("\n".join(problems) or "all files within budget")
sys.exit(1 if problems else 0)
