"""The demonstration: a reference becomes a verified kernel, and a bug is caught at the right line."""
import json
import os
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1], own_cache=True)
compiler = h.compiler()
h.environment["KERNELWRIGHT_RUNS"] = h.path("runs")
with open(os.path.join(ROOT, "examples", "rms_norm_bug.cu")) as file:
    line = next(number for number, text in enumerate(file, 1) if "i <= packs" in text)

done = h.run("demo", "--compiler", compiler)
h.check(done.returncode == 0, "demo succeeds", done)
for words in ("1. A PyTorch function", "def rms_norm", "PASSED ", "rms_norm\n", "certified", "final/kernel.cu", "2. A kernel with a bug",
              "out-of-bounds-global", "past the end", "hint:", "i <= packs"):
    h.check(words in done.stdout, "demo says '%s'" % words, done)

done = h.run("demo", "--compiler", compiler, "--out", h.path("elsewhere"), "--json")
document = json.loads(done.stdout)
h.check(document["ok"] and document["synthesis"]["passed"], "the kernel passed", done)
kernel = document["kernel"]
h.check(kernel.startswith(h.path("elsewhere")) and os.path.getsize(kernel) > 500, "the kernel is where it says: %s" % kernel)
found = {(finding["kind"], finding["at"]["line"]) for finding in document["bad"]["findings"]}
inside = range(line, line + 6)
h.check(any(kind == "out-of-bounds-global" and at in inside for kind, at in found), "the bug is found in its loop: %s" % found)
h.finish()
