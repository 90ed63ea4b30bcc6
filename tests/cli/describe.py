"""describe: what the front end makes of a reference is golden; what it cannot read is said."""
import json
import os
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", "describe_rms_norm.txt")
REFERENCE = os.path.join(ROOT, "examples", "rms_norm.py")
DIMS = ["--dims", '{"B": 64, "D": 256}']

done = h.run("describe", REFERENCE, *DIMS)
h.check(done.returncode == 0 and done.stderr == "", "describe", done)
if os.environ.get("KW_UPDATE_GOLDEN"):
    with open(GOLDEN, "w", encoding="utf-8") as file:
        file.write(done.stdout)
with open(GOLDEN, encoding="utf-8") as file:
    h.check(done.stdout == file.read(), "describe differs from " + GOLDEN, done)

document = json.loads(h.run("describe", REFERENCE, *DIMS, "--json").stdout)
h.check(document["dims"] == {"B": 64, "D": 256} and document["inputs"][0]["extents"] == [64, 256], "the shape that was asked for")
h.check(document["cost"]["read_bytes"] == 64 * 256 * 2 and document["cost"]["write_bytes"] == 64 * 256 * 2, "the least that is moved")
h.check(len(document["ops"]) > 5 and document["ops"][-1].strip().startswith("return"), "the operations")

h.write("two.py", "import torch\ndef f(x: 'fp32[N]'):\n  return x + 1\ndef g(x: 'fp32[N]'):\n  return x * 2\n")
h.write("broken.py", "def f(:\n")
h.write("plain.py", "import torch\ndef f(x):\n  return x + 1\n")
h.expect("one of two", ["describe", h.path("two.py"), "--function", "g"], 0, "mul")
h.expect("an input on the command line", ["describe", h.path("plain.py"), "--input", "x:fp16[M, 4]"], 0, r"x: fp16\[M, 4\]")
for name, words, pattern in (
        ("nothing named", [], "needs a TASK"), ("no such file", ["nothing.py"], "nothing.py"), ("two functions", [h.path("two.py")], "--function"),
        ("no such function", [h.path("two.py"), "--function", "k"], "k"), ("not Python", [h.path("broken.py")], "broken.py"),
        ("inputs without a description", [h.path("plain.py")], "--input"), ("a dim it does not have", [REFERENCE, "--dim", "Q=4"], "Q"),
        ("dims that are none", [REFERENCE, "--dims", "x"], "--dims")):
    h.expect(name, ["describe", *words], 2, pattern)
h.finish()
