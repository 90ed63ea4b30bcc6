#!/usr/bin/env python3
"""Writes the pages of skills/kernelwright/references that come from the catalogue.

skill_references.py BINARY [--check]: with --check nothing is written; exit code 1 when a page is out of date.
"""
import json
import pathlib
import re
import subprocess
import sys

PAGES = pathlib.Path(__file__).resolve().parent.parent / "skills" / "kernelwright" / "references"
AXES = {
    "memory": "bytes are moved too often, in too small pieces, or wait in the wrong place",
    "compute": "instructions are too many, too slow, or of the wrong kind",
    "latency": "units wait for each other, for a launch, or for too few warps",
}
EFFECTS = {
    "none": "none on the numbers",
    "reassociates": "sums in another order; within the bound, but other bits",
    "approximates": "cheaper functions; the judge decides whether the task allows it",
    "precision": "other types; only where the task allows it",
}
EXPRESSIBLE = {
    "module": "in a kernel module",
    "foreign": "only with host code of its own: never selected for a kernel module",
    "no": "not by the author of a kernel",
}
SOURCES = (("ncu", "Nsight Compute"), ("vgpu", "virtual GPU"))
HEAD = "<!-- made by tools/skill_references.py from `kernelwright catalog --json`; do not edit -->\n"


def filled(text):
    return " ".join(text.split())


def where(method):
    if not method["features"]:
        return "every target"
    return "%s: %s" % (", ".join(method["features"]), ", ".join(method["targets"]))


def sass(method):
    if not method["sass"]:
        return "no signature; it counts as present when its condition holds without the method and no longer with it"
    return "; ".join("%s `%s`" % (check["check"], check["opcodes"]) for check in method["sass"])


def rows(method):
    yield "try when", "`%s`" % method["trigger"] if method["trigger"] else ""
    yield "not when", "`%s`" % method["skip"] if method["skip"] else ""
    yield "gain where it works", "%g to %g times" % tuple(method["gain"])
    yield "needs", where(method)
    yield "needs first", ", ".join(method["needs"])
    yield "excludes", ", ".join(method["conflicts"])
    yield "replaces", ", ".join(method["supersedes"])
    yield "effect", EFFECTS[method["effect"]]
    yield "machine code", sass(method)
    yield "check with", ", ".join(method["sanitizer"])
    yield "knobs", "; ".join(method["knobs"])
    yield "expressible", EXPRESSIBLE[method["expressible"]] + (", experimental" if method["experimental"] else "")


def catalog_page(catalog):
    lines = [HEAD, "# Optimisation methods\n"]
    lines.append("%d methods on three axes. Priority 1 of an axis is tried first. `open-iter` says which methods the evidence supports, "
                 "and why not the others. `kernelwright catalog ID` shows one method. The end of this page explains conditions.\n" % len(catalog["methods"]))
    for axis, meaning in AXES.items():
        methods = [one for one in catalog["methods"] if one["axis"] == axis]
        lines.append("## %s: %s\n" % (axis, meaning))
        lines.append("| P | method | what |\n|---|---|---|")
        for method in methods:
            mark = "" if method["expressible"] == "module" else " (not in a kernel module)"
            lines.append("| %d | [`%s`](#%s) | %s%s |" % (method["priority"], method["id"], re.sub(r"\W", "", method["id"]), method["title"], mark))
        lines.append("")
        for method in methods:
            lines.append("### %s\n" % method["id"])
            lines.append("P%d. %s\n" % (method["priority"], filled(method["guidance"])))
            lines += ["- **%s**: %s" % (name, value) for name, value in rows(method) if value]
            lines.append("")
    lines.append("## How conditions are read\n")
    lines.append("`metric > 5 worst 30` has a strength from 0 to 1: 0 up to 5, 1 from 30 on, in proportion between. Without `worst` a "
                 "clause is true or false. A metric that was not measured makes its clause unknown, and an unknown clause never supports "
                 "a method. `and` takes the weakest part, `or` the strongest. The metrics: [ncu_metrics_guide.md](ncu_metrics_guide.md).\n")
    return "\n".join(lines)


def users(catalog, name):
    """The methods whose conditions use a metric."""
    word = re.compile(r"\b%s\b" % re.escape(name))
    return ["`%s`" % one["id"] for one in catalog["methods"] if word.search("%s %s" % (one["trigger"] or "", one["skip"] or ""))]


def metrics_page(catalog):
    lines = [HEAD, "# Metrics, and what profilers call them\n"]
    lines.append("%d canonical metrics. If several sources give one, Nsight Compute is preferred to the virtual GPU, and the virtual GPU to "
                 "static facts. A metric that was not measured is unknown: it is not 0, and it is never evidence.\n" % len(catalog["metrics"]))
    lines.append("On a GPU whose counters you may read, `open-iter` runs the profiler itself, on one call of the kernel, without changing "
                 "clocks. A profile from another machine is read too:\n")
    lines.append("```\nncu --csv --page raw --print-units base … > profile.csv\nkernelwright profile kernel.cu --reference reference.py --ncu profile.csv\n```\n")
    lines.append("`ERR_NVGPUCTRPERM` means that you may not read the counters: the loop continues with the virtual GPU's counters and says so.\n")
    lines.append("| metric | what | unit | better | made of | used by |\n|---|---|---|---|---|---|")
    for metric in catalog["metrics"]:
        made = ["%s `%s`" % (title, "`, `".join(metric[key][:2])) for key, title in SOURCES if metric[key]]
        lines.append("| `%s` | %s | %s | %s | %s | %s |" % (
            metric["id"], metric["title"], metric["unit"], {"neither": ""}.get(metric["better"], metric["better"]),
            "; ".join(made) or "compiler, launch plan or reference", ", ".join(users(catalog, metric["id"]))))
    return "\n".join(lines) + "\n"


def main():
    done = subprocess.run([sys.argv[1], "catalog", "--json"], capture_output=True, text=True, check=True)
    catalog = json.loads(done.stdout)
    stale = []
    for name, text in (("optimization_catalog.md", catalog_page(catalog)), ("ncu_metrics_guide.md", metrics_page(catalog))):
        path = PAGES / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[2:]:
            path.write_text(text, encoding="utf-8")
    print("out of date: %s; run tools/skill_references.py" % ", ".join(stale) if "--check" in sys.argv[2:] and stale else "the skill's pages are up to date")
    return 1 if "--check" in sys.argv[2:] and stale else 0


if __name__ == "__main__":
    sys.exit(main())
