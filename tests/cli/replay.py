"""What a run keeps: the members of config.json are those that the rows of options name, and only what rows call anew may be given
when the run continues."""
import glob
import json
import os
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
compiler = h.compiler()
LEAVES = ("dims", "inputs")
OURS = {"kernelwright", "order_seed"}  # in config.json without an option
VALUES = {"choice": lambda option: option["choices"][0], "switch": lambda option: "on", "pairs": lambda option: "B=1",
          "texts": lambda option: "x:fp32[B]", "whole": lambda option: str(max(1, option["low"])), "number": lambda option: "1",
          "duration": lambda option: "1s", "seconds": lambda option: "1", "dims": lambda option: '{"B": 1}'}
commands = {one["name"]: {option["name"]: option for option in one["options"]}
            for one in json.loads(h.run("help", "--json").stdout)["commands"]}


def members(document, before=""):
    for name, value in document.items():
        if isinstance(value, dict) and name not in LEAVES:
            yield from members(value, before + name + ".")
        else:
            yield before + name


# A reviewing model is named, so that the options of models are stored; the program fails, and so its vote counts for nothing.
made = h.run("evolve", os.path.join(ROOT, "examples", "rms_norm.py"), "--device", "vgpu", "--compiler", compiler, "--generations", "1",
             "--proposals", "1", "--hardware", "1", "--time", "1s", "--cross-check", "never", "--versus", "none", "--dim", "B=4", "--dim",
             "D=8", "--precision", "tf32", "--mode", "eval", "--verifier-model", "command:false", "--out", h.path("runs"), "--json")
config = json.load(open(glob.glob(h.path("runs/*/inputs/config.json"))[0]))
kept = {key for name in ("synthesize", "evolve") for option in commands[name].values() for key in option["kept"]}
found = set(members(config)) - OURS
h.check(kept <= found, "config.json has no %s" % sorted(kept - found), made)
h.check(found <= kept, "no option's row names %s" % sorted(found - kept))
for key, value in {"dims": {"B": 4, "D": 8}, "precision": "tf32", "device": "vgpu", "baselines": [], "seconds": 1}.items():
    h.check(config[key] == value, "%s is stored as given" % key)

for name, option in commands["evolve"].items():
    if name == "--resume":
        continue
    value = [] if option["type"] == "flag" else [VALUES.get(option["type"], lambda option: "x")(option)]
    if name == "--replay":
        value = [h.write("cassette", "")]
    done = h.run("evolve", "--resume", h.path("nothing"), name, *value)
    refused = "cannot be changed when a run continues" in done.stderr + done.stdout
    h.check(done.returncode == 2 and refused != option["anew"], "evolve --resume with %s" % name, done)
h.finish()
