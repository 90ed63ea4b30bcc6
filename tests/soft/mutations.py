"""Every way to change a module really changes it, and in the shipped corpus every kind of bug is one that the judge has caught."""
import json
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "tools"))

from verifier_mutations import BUG, DEFENSIVE, MUTATIONS, device_code  # noqa: E402

# Sums of the lengths that the suite has are accurate enough in fp32, as the judge found: right, and worth having in the corpus.
NEVER_CAUGHT = {"accumulates_in_float"}

problems = []
rows = [json.loads(line) for line in (root / "src/search/review/verifier_corpus.jsonl").read_text().splitlines()]
bases = {row["base"]: row["text"] for row in rows if "text" in row}
entries = [row for row in rows if "entry" in row]

for name, kind, function in MUTATIONS:
    made = 0
    for base, text in bases.items():
        for changed in function(text):
            made += 1
            if changed == text:
                problems.append(f"{name} leaves {base} as it is")
            if changed.count("//!") != text.count("//!") or device_code(changed) <= 0:
                problems.append(f"{name} breaks the plan lines of {base}")
    if made == 0:
        problems.append(f"{name} fits no module of the corpus")
    labels = [row["verdict"] for row in entries if row.get("mutation") == name]
    if kind == BUG and ("wrong" not in labels) != (name in NEVER_CAUGHT):
        problems.append(f"{name} is caught always or never, unlike what is said above: {labels}")
    if kind == DEFENSIVE and (not labels or "wrong" in labels):
        problems.append(f"{name} is not harmless: {labels}")

print("\n".join(problems[:40]) or f"{len(MUTATIONS)} mutations of {len(bases)} modules, {len(entries)} labels")
sys.exit(1 if problems else 0)
