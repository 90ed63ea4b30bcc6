#!/usr/bin/env python3
"""The kernels of a robust-kbench checkout, judged: which pass, which fail and why.

Usage: judge.py KERNELWRIGHT CHECKOUT [--device gpu] [--bench] [--only NAME,NAME]

Takes every highlighted/TASK/{forward,backward}/*.cu with tasks/TASK as its reference, called as that folder's own harness calls it. --bench (a
GPU's): those that pass are timed beside PyTorch at the folder's own shape.
"""
import argparse
import json
import pathlib
import subprocess
import sys


def kernels(checkout):
    for file in sorted((checkout / "highlighted").rglob("*.cu")):
        direction = file.parent.name
        task = checkout / "tasks" / file.parent.parent.name
        if direction in ("forward", "backward") and task.is_dir():
            name = f"{task.name}, {direction}" + ("" if file.stem == "kernel" else f", {file.stem}")
            yield name, file, task, direction == "backward"


def ask(options, command, file, task, backward, extra=()):
    words = [options.kernelwright, command, str(file), "--json", *extra]
    words += ["--reference", str(task), "--device", options.device] if task else []
    words += ["--backward"] if backward else []
    done = subprocess.run(words, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": {"message": (done.stderr or done.stdout).strip()[-300:] or f"exit {done.returncode}"}}


def why(document):
    error = document.get("error") or {}
    text = document.get("reason") or error.get("message") or document.get("verdict") or "no verdict"
    return text.splitlines()[0]


def at_own_shape(options, file, task, backward):
    """Whether it is right where the folder times it; other shapes are asked for too."""
    described = ask(options, "describe", task, None, backward)
    dims = json.dumps((described.get("task") or {}).get("benchmark_shapes", [{}])[0])
    return ask(options, "verify", file, task, backward, ["--dims", dims, *options.more]).get("verdict") == "passed"


def timed(document):
    if "error" in document:
        return "not timed: " + why(document)
    rows = [f"{row['name']} {row['speedup']:.2f} {row['relation']}" for row in document.get("versus", []) if row.get("speedup")]
    return f"{document['time_us']:.1f} us; " + ", ".join(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernelwright")
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--device", default="vgpu")
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--cross-check", default="auto")
    options = parser.parse_args()
    options.more = ["--cross-check", options.cross_check]
    only = [name for name in options.only.split(",") if name]
    rows = [row for row in kernels(options.checkout) if not only or row[2].name in only]
    if not rows:
        sys.exit(f"{options.checkout} has no highlighted/TASK/forward/*.cu with a tasks/TASK")
    passed = 0
    for name, file, task, backward in rows:
        document = ask(options, "verify", file, task, backward, options.more)
        good = document.get("verdict") == "passed"
        passed += good
        line = "passes" if good else "fails: " + why(document)
        own = good or at_own_shape(options, file, task, backward)
        if own and not good:
            line += "; right at the folder's own shape"
        if own and options.bench:
            line += "; " + timed(ask(options, "bench", file, task, backward, ["--quick", "--versus", "eager,compile"]))
        print(f"{name:32} {line}", flush=True)
    print(f"{passed} of {len(rows)} pass")


if __name__ == "__main__":
    main()
