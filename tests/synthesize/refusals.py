"""What synthesize cannot do, and says so: every bad input with its exit code, and a report whenever a run was made."""
import json
import os
import sys

from common import Jobs, RMS_NORM

h = Jobs(sys.argv[1])
BASE = ["synthesize", "--reference", RMS_NORM, *h.words]


def refused_options():
    for name, words, pattern in (
            ("no reference", ["synthesize"], r"--reference"),
            ("absent file", ["synthesize", "--reference", "absent.py"], r"absent\.py"),
            ("no such function", ["synthesize", "--reference", RMS_NORM + ":layer_norm", *h.words], r"layer_norm"),
            ("unknown proposer", [*BASE, "--proposer", "buildin"], r"did you mean 'builtin'"),
            ("goal of nothing", [*BASE, "--goal", "0"], r"--goal"),
            ("goal that is not a number", [*BASE, "--goal", "fast"], r"--goal"),
            ("time that is none", [*BASE, "--time", "soon"], r"--time"),
            ("no candidates", [*BASE, "--candidates", "0"], r"--candidates"),
            ("unknown target", [*BASE, "--target", "sm_1"], r"sm_1"),
            ("unknown device", [*BASE, "--device", "tpu"], r"tpu"),
            ("unknown precision", [*BASE, "--precision", "tf23"], r"did you mean 'tf32'"),
            ("two prompts", [*BASE, "--prompt", "a", "--prompt-file", RMS_NORM], r"one of the two"),
            ("absent prompt", [*BASE, "--prompt-file", "absent.txt"], r"absent\.txt"),
            ("unknown option", [*BASE, "--goals", "1"], r"did you mean '--goal'"),
    ):
        h.expect(name, words, 2, pattern)


def failures_with_a_report():
    odd = h.write("odd.py", "import torch\n\n\ndef odd(x: 'fp32[B, D]'):\n    return torch.linalg.svdvals(x)\n")
    environment = {"KW_TORCH_PYTHON": "/nowhere/python"}
    for name, words, code, stage, env in (
            ("an op we do not know", ["synthesize", "--reference", odd, *h.words], 2, "reference", environment),
            ("no GPU", [*BASE, "--device", "gpu"], 3, "machine", {}),
            ("no such compiler", ["synthesize", "--reference", RMS_NORM, "--compiler", "gcc"], 2, "machine", {}),
    ):
        known = len(h.runs())
        done = h.run(*words, env=env)
        h.check(done.returncode == code, "%s: exit %d" % (name, code), done)
        h.check(len(h.runs()) == known + 1, "%s leaves a run" % name, done)
        report = h.report(h.newest())
        h.check(not report["passed"] and report["failed_stage"] == stage and report["failure_reason"],
                "%s: the report says where it failed: %s" % (name, report.get("failed_stage")))
        h.check(report["correctness"] is None and report["performance"] is None, "%s: nothing is claimed" % name)
        h.check(not os.path.exists(os.path.join(h.newest(), "final", "kernel.cu")), "%s: nothing is shipped" % name)


def failure_as_json():
    done = h.run(*BASE, "--device", "gpu", "--json")
    document = json.loads(done.stdout)
    h.check(done.returncode == 3 and document["ok"] is False and document["exit_code"] == 3, "a failure in JSON", done)
    h.check(document["error"]["blame"] == "environment" and document["error"]["message"] == document["failure_reason"],
            "the error beside the report", done)


def odd_wishes():
    done = h.run(*BASE, "--time", "0", "--json")
    report = json.loads(done.stdout)
    h.check(done.returncode == 0 and report["search"]["tried"] == 1, "no time at all: the best guess, judged", done)
    done = h.run(*BASE, "--goal", "7", "--candidates", "2")
    h.check(done.returncode == 0 and "beyond the floor" in done.stdout, "a goal no kernel can reach is told", done)
    blocked = h.write("a_file", "not a folder")
    done = h.run(*BASE, "--out", blocked)
    h.check(done.returncode in (2, 3) and "a_file" in done.stderr, "--out that is not a folder", done)


refused_options()
failures_with_a_report()
failure_as_json()
odd_wishes()
h.finish()
