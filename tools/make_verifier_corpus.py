#!/usr/bin/env python3
"""Builds src/search/review/verifier_corpus.jsonl: kernel modules, right and wrong, each labelled by the judge.

    make_verifier_corpus.py --kernelwright PROGRAM --show SHOW_MODULE [--suite DIR] [--seed N] [--mutants N] [--only TASK,…] OUT

Bases are code generation's designs for the tasks of a suite (SHOW_MODULE is tests/codegen's program); every base is mutated
(verifier_mutations.py), and all of them go through `kernelwright verify --device vgpu`. The same seed makes the same modules;
verdicts are the judge's. OUT.partial keeps the judged modules, and a second start continues from there.
"""
import argparse
import difflib
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from verifier_mutations import BUG, DEFENSIVE, HARMLESS, MUTATIONS  # noqa: E402

SCHEMA = "kernelwright verifier corpus 1"
MOST_BASE_BYTES = 12_000
REASON = 240


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelwright", required=True)
    parser.add_argument("--show", required=True)
    parser.add_argument("--suite", default=str(pathlib.Path(__file__).resolve().parent.parent / "suites/internal"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=4, help="bugs per base")
    parser.add_argument("--only", default="")
    parser.add_argument("out")
    return parser.parse_args()


def designs(options, task):
    """The best guess, one with shared memory, and the simplest; without duplicates."""
    names = subprocess.run([options.show, str(task), "--designs"], capture_output=True, text=True, check=True).stdout.splitlines()
    texts = []
    for number in range(len(names)):
        shown = subprocess.run([options.show, str(task), "--design", str(number)], capture_output=True, text=True)
        texts.append(shown.stdout if shown.returncode == 0 else "")
    wanted = [0] + [i for i in range(1, len(names)) if "__shared__" in texts[i]][:1] + [len(names) - 1]
    chosen = []
    for number in wanted:
        if texts[number] and len(texts[number]) <= MOST_BASE_BYTES and number not in [n for n, _, _ in chosen]:
            chosen.append((number, names[number], texts[number]))
    return chosen


class Picker:
    """Chooses mutations so that each is used about equally often."""

    def __init__(self, seed):
        self.used = {name: 0 for name, _, _ in MUTATIONS}
        self.seed = seed

    def pick(self, base, text, kinds, count):
        rng = random.Random(f"{self.seed} {base} {kinds}")
        rows = [row for row in MUTATIONS if row[1] in kinds]
        rng.shuffle(rows)
        rows.sort(key=lambda row: self.used[row[0]])
        made = []
        for name, kind, function in rows:
            if len(made) == count:
                break
            texts = function(text)
            if texts:
                # Early places are in code that more shapes execute.
                made.append((name, kind, texts[min(rng.randrange(len(texts)), rng.randrange(len(texts)))]))
                self.used[name] += 1
        return made


def edits(before, after):
    """[[first line from 0, lines taken out, [lines put in]], …] from the end to the beginning."""
    old, new = before.split("\n"), after.split("\n")
    found = [[i, j - i, new[k:m]] for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if tag != "equal"]
    return found[::-1]


def label(candidate):
    verdict = candidate["verdict"]
    if verdict == "passed":
        return {"verdict": "right"}
    if verdict not in ("rejected", "wrong", "crashed"):
        return None
    reason = candidate.get("reason") or candidate.get("what") or ""
    return {"verdict": "wrong", "stage": candidate.get("stage", "vgpu"), "reason": " ".join(reason.split())[:REASON]}


def judge(options, task, texts):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(texts):
            paths.append(pathlib.Path(folder) / f"{number:03d}.cu")
            paths[-1].write_text(text)
        done = subprocess.run([options.kernelwright, "verify", *map(str, paths), "--reference", str(task), "--device", "vgpu", "--target", "sm_90",
                               "--seed", str(options.seed), "--cross-check", "never", "--timeout", "60", "--json"], capture_output=True, text=True)
        report = json.loads(done.stdout)
        if "candidates" not in report:
            sys.exit(f"{task.name}: {done.stdout}{done.stderr}")
        return report["candidates"]


def rows_of(options, picker, task):
    """The rows of one task (the task, its bases, its entries), and the mutations chosen for it."""
    rows = [{"task": task.name, "reference": (task / "reference.py").read_text()}]
    modules, names = [], []
    for number, design, text in designs(options, task):
        base = f"{task.name}.{number}"
        rows.append({"base": base, "task": task.name, "design": design, "text": text})
        modules.append((base, base, "", "design", text, text))
        picked = picker.pick(base, text, (BUG,), options.mutants) + picker.pick(base, text, (DEFENSIVE,), 1)
        picked += picker.pick(base, text, (HARMLESS,), 1) if number == 0 else []
        names += [name for name, _, _ in picked]
        modules += [(f"{base}.{name}", base, name, kind, text, made) for name, kind, made in picked]
    for (entry, base, name, kind, text, made), candidate in zip(modules, judge(options, task, [m[5] for m in modules])):
        verdict = label(candidate)
        if verdict is None or (kind == "design" and verdict["verdict"] != "right"):
            print(f"{entry}: left out, {candidate['verdict']}: {json.dumps(candidate)[:400]}", file=sys.stderr)
            continue
        rows.append({"entry": entry, "base": base, "kind": kind, **({"mutation": name, "edits": edits(text, made)} if name else {}), **verdict})
    return {"task": task.name, "rows": rows, "picked": names}


def main():
    options = parse()
    out = pathlib.Path(options.out)
    partial = out.with_suffix(out.suffix + ".partial")
    done = {}
    if partial.exists():
        for line in partial.read_text().splitlines():
            record = json.loads(line)
            done[record["task"]] = record
    tasks = sorted(path.parent for path in pathlib.Path(options.suite).glob("*/task.toml"))
    only = options.only.split(",") if options.only else [task.name for task in tasks]
    picker = Picker(options.seed)
    rows = [{"schema": SCHEMA, "seed": options.seed, "suite": pathlib.Path(options.suite).name, "judge": "compile, virtual GPU, gate on sm_90"}]
    for task in [task for task in tasks if task.name in only]:
        if task.name in done:
            for name in done[task.name]["picked"]:
                picker.used[name] += 1
        else:
            done[task.name] = rows_of(options, picker, task)
            with partial.open("a") as file:
                file.write(json.dumps(done[task.name]) + "\n")
        rows += done[task.name]["rows"]
        print(f"{task.name}: {sum('entry' in row for row in rows)} entries so far", file=sys.stderr)
    out.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    partial.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
