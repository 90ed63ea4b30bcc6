"""What evolve refuses, and how.

    refusals.py KERNELWRIGHT
"""
import json
import os
import sys

from common import INTERNAL, Evolutions

jobs = Evolutions(sys.argv[1])
TASK = os.path.join(INTERNAL, "add_relu_fp32")
CASES = [
    ("no task", [], 2, "needs one TASK"),
    ("two tasks", [TASK, TASK], 2, "needs one TASK"),
    ("no file", ["nowhere.py"], 2, "nowhere.py"),
    ("no generation", [TASK, "--generations", "0"], 2, "--generations needs 1 to"),
    ("too many proposals", [TASK, "--proposals", "100000"], 2, "--proposals needs 1 to"),
    ("a word for a number", [TASK, "--islands", "two"], 2, "--islands"),
    ("more hardware than proposals", [TASK, "--proposals", "2", "--hardware", "3"], 2, "no more can be judged"),
    ("no island", [TASK, "--islands", "0"], 2, "--islands needs"),
    ("a mode", [TASK, "--mode", "optimise"], 2, "did you mean 'optimize'"),
    ("a proposer", [TASK, "--proposer", "lmm"], 2, "did you mean 'llm'"),
    ("a switch", [TASK, "--verifiers", "yes"], 2, "--verifiers needs on or off"),
    ("an empty ensemble", [TASK, "--ensemble", ""], 2, "--ensemble"),
    ("an ensemble with a hole", [TASK, "--ensemble", "a:b,,c:d"], 2, "an arm is empty"),
    ("the same arm twice", [TASK, "--ensemble", "openai:x:0.5,openai:x:0.5"], 2, "twice"),
    ("too hot", [TASK, "--ensemble", "openai:x:9.5"], 2, "0 to 2"),
    ("an unknown provider", [TASK, "--ensemble", "nobody:x"], 2, "nobody"),
    ("a goal", [TASK, "--goal", "-1"], 2, "--goal"),
    ("an option", [TASK, "--generation", "3"], 2, "--generations"),
    ("no run", ["--resume", "nothing"], 2, "nothing"),
    ("a task with a run", [TASK, "--resume", "nothing"], 2, "takes no TASK"),
    ("another seed", ["--resume", "nothing", "--seed", "9"], 2, "--seed cannot be changed when a run continues"),
    ("another switch", ["--resume", "nothing", "--verifiers", "off"], 2, "--verifiers cannot be changed when a run continues"),
    ("one run to compare", ["compare", "nothing"], 2, "nothing"),
    ("nothing to compare", ["compare"], 2, "two runs or more"),
]
for name, words, code, pattern in CASES:
    jobs.expect(name, ["evolve", *words], code, pattern)

broken = jobs.write("ensemble.txt", "# no model\n")
jobs.expect("a file without an arm", ["evolve", TASK, "--ensemble", broken], 2, "names no model")
plain = jobs.synthesize(TASK, "--device", "vgpu", "--candidates", "1", "--versus", "none", "--proposer", "builtin", "--json")
folder = json.loads(plain.stdout)["artifacts_dir"]
jobs.expect("a run that was none", ["evolve", "--resume", folder], 2, "is not an evolve run")
jobs.expect("the same to compare", ["evolve", "compare", folder, folder], 2, "is not an evolve run")
jobs.finish()
