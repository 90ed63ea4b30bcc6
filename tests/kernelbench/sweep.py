"""Which of KernelBench's problems are read, agree with PyTorch and get a right kernel with no model in the loop?

sweep.py KERNELWRIGHT [--level N] [--only N,N] [--jobs N] [--device vgpu] [--describe] [--few [--compare-all]] [--folder CHECKOUT]

Takes problems.py's small ones, or the files of a checkout (its folder that holds level1 and level2, or KW_KERNELBENCH). --describe reads only. A
problem passes when `synthesize` ends with a module that its gate let through; where PyTorch is found the truth has been compared with it.
--few takes three and compares one of them; with --compare-all it takes some of every kind and compares all.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import problems

FEW = {(1, 11), (1, 43), (1, 63), (1, 75), (1, 82), (1, 97), (2, 19), (2, 38), (2, 43)}
QUICK = {(1, 63), (1, 43), (2, 43)}  # of those
COMPARED = {(1, 63)}  # of those; PyTorch takes its seconds to start


def from_checkout(folder):
    for level in (1, 2):
        for file in sorted(pathlib.Path(folder).rglob("level%d/*.py" % level), key=lambda one: one.name):
            number = file.name.split("_")[0]
            if number.isdigit():
                yield level, int(number), file.stem.split("_", 1)[1], file.read_text()


def run(binary, words, limit):
    try:
        done = subprocess.run([binary, *words, "--json"], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": {"message": "took more than %d s" % limit}}
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": {"message": (done.stderr or done.stdout).strip()[-300:] or "exit %d" % done.returncode}}


def why(document):
    if "error" in document:
        return document["error"].get("message", "error")
    return json.dumps(document.get("verdict") or document.get("status") or list(document))[:300]


def judge(options, folder, row):
    level, number, name, text = row
    file = folder / ("%d_%03d_%s.py" % (level, number, name))
    file.write_text(text)
    began = time.monotonic()
    document = run(options.binary, ["describe", str(file)], options.limit)
    stage, passed = "read", "error" not in document
    if passed and not options.describe:
        stage = "kernel"
        compared = not options.few or options.compare_all or row[:2] in COMPARED
        document = run(options.binary, ["synthesize", "--reference", str(file), "--device", options.device, "--budget-seconds", "1", "--candidates", str(options.candidates), "--versus", "none",
                                        "--quick", "--proposer", "builtin", "--threads", "1", "--out", str(folder / "runs"),
                                        "--cross-check", "auto" if compared else "never"], options.limit)
        passed = "error" not in document and bool(document.get("passed", document.get("verdict") == "pass"))
    return row, stage, passed, "" if passed else why(document), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--level", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="vgpu")
    parser.add_argument("--candidates", type=int, default=1)
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--compare-all", action="store_true")
    parser.add_argument("--limit", type=int, default=180)
    parser.add_argument("--folder", default=os.environ.get("KW_KERNELBENCH", ""))
    options = parser.parse_args()
    rows = list(from_checkout(options.folder)) if options.folder else problems.problems()
    only = {int(one) for one in options.only.split(",") if one}
    rows = [row for row in rows if (not options.level or row[0] == options.level) and (not only or row[1] in only) and
            (not options.few or row[:2] in (FEW if options.compare_all else QUICK))]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, stage, passed, reason, seconds in pool.map(lambda row: judge(options, pathlib.Path(folder), row), rows):
            failed += not passed
            if not passed or not options.describe:
                print("{} {:3} {:52} {:6} {:4} {:6.1f} s  {}".format(*row[:3], stage, "ok" if passed else "FAIL", seconds, reason), flush=True)
    print("%d of %d problems pass" % (len(rows) - failed, len(rows)))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
