"""What --help prints is golden, and so is the table of options in docs/cli.md: KW_UPDATE_GOLDEN=1 rewrites both, the diff is the
review. The names and defaults of the Python package must be those of `help --json`."""
import json
import os
import re
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
for name in ("main", "synthesize", "evolve", "tune-verifiers", "resume", "tune", "run", "check", "import", "verify", "bench", "compare", "optimize", "calibrate", "eval", "screen", "profile", "roofline", "sass", "catalog", "lint", "describe", "mcp", "runs", "inspect", "diff", "gc", "demo", "doctor", "version"):
    words = ["help"] if name == "main" else ["help", name]
    done = h.run(*words)
    h.check(done.returncode == 0 and done.stderr == "", "help " + name, done)
    path = os.path.join(GOLDEN, "help_%s.txt" % name)
    if os.environ.get("KW_UPDATE_GOLDEN"):
        with open(path, "w") as file:
            file.write(done.stdout)
    with open(path) as file:
        h.check(done.stdout == file.read(), "help of %s differs from %s" % (name, path), done)
    if name != "main":
        h.check(h.run(name, "--help").stdout == done.stdout, name + " --help says the same")
        h.check(h.run(name, "-h").stdout == done.stdout, name + " -h says the same")
h.check(h.run("--help").stdout == h.run("help").stdout, "--help says the same")
h.check(h.run("--version").stdout == h.run("version").stdout, "--version says the same")
h.check("\033" not in h.run("help").stdout, "no colour in a pipe")

commands = {one["name"]: one for one in json.loads(h.run("help", "--json").stdout)["commands"]}
for name, one in commands.items():
    said = json.loads(h.run("help", name, "--json").stdout)
    h.check(said["commands"] == [one], "help %s --json is a part of help --json" % name)
    shown = set(re.findall(r"^  (--[a-z-]+)", said["text"], re.M)) - {"--json", "--help"}
    h.check(shown == {option["name"] for option in one["options"]}, "help %s --json names what the text names" % name)


def type_words(option):
    """What the table says of a value."""
    if option["choices"]:
        return option["type"] + ": " + ", ".join(option["choices"])
    if option["low"] is None:
        return option["type"]
    high = "" if option["high"] == 2**63 - 1 else " to %d" % option["high"]
    return "%s from %d%s" % (option["type"], option["low"], high)


rows = {}
for name, one in commands.items():
    for option in one["options"]:
        spelt = (option["name"] + " " + option["value"]).strip().replace("|", "\\|")
        default = "`%s`" % option["default"] if option["default"] else ""
        rows.setdefault((spelt, type_words(option), default), []).append(name)
table = ["| option | type | default | commands |", "|---|---|---|---|"]
table += ["| `%s` | %s | %s | %s |" % (*row, ", ".join(names)) for row, names in sorted(rows.items())]
document = os.path.join(ROOT, "docs", "cli.md")
with open(document) as file:
    text = file.read()
made = re.sub(r"(## Options\n\n.*?\n\n)\|.*?\n\n", lambda found: found[1] + "\n".join(table) + "\n\n", text, count=1, flags=re.S)
if os.environ.get("KW_UPDATE_GOLDEN"):
    with open(document, "w") as file:
        file.write(made)
    text = made
h.check("\n".join(table) in text, "the table of options in docs/cli.md differs from help --json")

sys.path.insert(0, os.path.join(ROOT, "python"))
from kernelwright.config import SynthesisConfig  # noqa: E402

options = {option["name"][2:].replace("-", "_"): option for option in commands["synthesize"]["options"]}
config = SynthesisConfig(seconds=1, candidates=1, goal=0.5, seed=1, quick=True, budget=1, baselines=("eager",), compiler="nvcc",
                         proposer="llm", precision="tf32", cross_check="never", artifact_root=".", request_timeout_seconds=1,
                         performance_shape_n=1, escalate_to_opus_on_bust=True, opus_model="x", opus_retry_budget_codegen=2)
for name, value in config.engine_options().items():
    h.check(name in options, "Python's %s is an option of synthesize" % name)
    h.check(isinstance(value, bool) == (options[name]["type"] == "flag"), "Python's %s is of the option's type" % name)
h.check(SynthesisConfig().device == options["device"]["default"], "Python's device is the table's")
h.check(SynthesisConfig().perf_target_speedup_vs_torch_compile == float(options["perf_target"]["default"]), "and its target")
h.finish()
