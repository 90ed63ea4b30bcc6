"""The demonstration: a correct kernel passes, its copy with a bug is caught at the right line."""
import json
import os
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
compiler = h.compiler()
with open(os.path.join(ROOT, "examples", "rms_norm_bug.cu")) as file:
    line = next(number for number, text in enumerate(file, 1) if "i <= packs" in text)

done = h.run("demo", "--compiler", compiler)
h.check(done.returncode == 0, "demo succeeds", done)
for words in ("1. A correct kernel", "no findings", "correct", "2. The same kernel with a bug", "out-of-bounds-global",
              "past the end", "hint:", "i <= packs", "compiled for"):
    h.check(words in done.stdout, "demo says '%s'" % words, done)

document = json.loads(h.run("demo", "--compiler", compiler, "--json").stdout)
h.check(document["ok"] and document["largest_relative_error"] < 2.0 ** -10, "the good kernel is right")
h.check(document["good"]["findings"] == [] and document["good"]["status"] == "completed", "the good kernel is clean")
found = {(finding["kind"], finding["at"]["line"]) for finding in document["bad"]["findings"]}
inside = range(line, line + 6)
h.check(any(kind == "out-of-bounds-global" and at in inside for kind, at in found), "the bug is found in its loop: %s" % found)
h.finish()
