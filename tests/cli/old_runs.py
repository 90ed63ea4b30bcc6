"""Run folders of an earlier version still open. Each archive in tests/fixtures/old_runs is one folder, as that version left it: a
synthesis, an evolution, a synthesis with a model (command:PROGRAM) and an optimisation after its first iteration. The reference
was /mnt/kernels/twice.py, which is gone; the runs keep a copy."""
import json
import os
import sys
import tarfile

from harness import Harness, ROOT

h = Harness(sys.argv[1])
h.environment["KERNELWRIGHT_LIBCUDA"] = "/nowhere/libcuda.so.1"
RUNS = h.path("runs")
for name in ("synthesize", "evolve", "models", "optimize"):
    with tarfile.open(os.path.join(ROOT, "tests", "fixtures", "old_runs", name + ".tar.xz")) as archive:
        archive.extractall(RUNS)


def at(name):
    return os.path.join(RUNS, name)


def document(*words):
    done = h.run(*words, "--json")
    h.check(done.returncode == 0, " ".join(words), done)
    return json.loads(done.stdout) if done.returncode == 0 else {}


# Looking at them needs no compiler.
listed = document("runs", "--out", RUNS)
h.check(sorted(run["id"] for run in listed["runs"]) == ["evolve", "models", "synthesize"], "all are listed: %s" % listed)
for name, tried in (("synthesize", 2), ("evolve", 6), ("models", 2)):
    view = document("inspect", at(name))
    h.check(view["damage"] == [] and view["run"]["status"] == "passed", "%s: %s" % (name, view["damage"]))
    h.check(len(view["candidates"]) == tried and view["report"]["passed"] is True, name + ": its candidates and report")
    best = view["candidates"][0]["id"]
    h.check(view["candidates"][0]["old_verdict"] is True, name + ": its verdicts are those of an older judge")
    h.expect("verdicts of " + name + " are marked", ["inspect", at(name)], 0, r"passed \*.*\* judged by version 1 of the judge")
    h.expect("a candidate of " + name, ["inspect", at(name), "--candidate", best], 0, r"passed.*__global__")
    h.expect("events of " + name, ["inspect", at(name), "--events"], 0, r"opened.*added.*judged.*finished")
h.expect("diff", ["diff", at("synthesize"), at("models")], 0, r'config\.proposer +"builtin" +"llm"')
h.expect("compare", ["evolve", "compare", at("evolve"), at("evolve")], 0, r"best us after")
state = document("optimize", "state", "--run-dir", at("optimize"))
h.check(state["phase"] == "closed" and state["iter"] == 1 and state["best_file"] == "iterv1/kernel.cu", "the state: %s" % state)
h.check(document("optimize", "summary", "--run-dir", at("optimize"))["summary"].startswith("# "), "the summary of an optimisation")

# Going on with them: what was judged is not judged again.
h.compiler()
for name, words in (("synthesize", ["resume", at("synthesize"), "--candidates", "3"]), ("models", ["resume", at("models"), "--candidates", "3"]),
                    ("evolve", ["evolve", "--resume", at("evolve"), "--generations", "3"])):
    before = {one["id"] for one in document("inspect", at(name))["candidates"]}
    report = document(*words)
    h.check(report.get("passed") is True and any("was deleted" in note for note in report["notes"]), "%s goes on: %s" % (name, report))
    view = document("inspect", at(name))
    h.check(before <= {one["id"] for one in view["candidates"]} and view["damage"] == [], name + " keeps its candidates")
models = document("inspect", at("models"))["report"]["models"]
h.check([one["label"] for one in models["ledger"]["calls"]] == ["codegen attempt 1", "polish attempt 1"], "its calls are still counted")
h.check([one["outcome"] for one in models["attempts"]] == ["compiles", "annotated"], "its attempts are still told")
opened = document("optimize", "open-iter", "--run-dir", at("optimize"))
h.check(opened.get("iter") == 2, "the optimisation opens its next iteration: %s" % opened)
h.finish()
