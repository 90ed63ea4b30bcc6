"""What --help prints is golden, and so is the table of options in docs/cli.md: KW_UPDATE_GOLDEN=1 rewrites both, the diff is the
review."""
import json
import os
import re
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
commands = {one["name"]: one for one in json.loads(h.run("help", "--json").stdout)["commands"]}
for name in ("main", *commands):
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
carried = next(one for one in commands["eval"]["options"] if one["name"] == "--suite")
for suite in sorted(os.listdir(os.path.join(ROOT, "suites"))):
    h.check(re.search(r"\b%s\b" % suite, json.dumps(carried)), "--suite names " + suite)

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
        stored = ", ".join(["`%s`" % key for key in option["kept"]] + ["anew"] * option["anew"])
        rows.setdefault((spelt, type_words(option), default, stored), []).append(name)
table = ["| option | type | default | stored | commands |", "|---|---|---|---|---|"]
table += ["| `%s` | %s | %s | %s | %s |" % (*row, ", ".join(names)) for row, names in sorted(rows.items())]
document = os.path.join(ROOT, "docs", "cli.md")
with open(document) as file:
    text = file.read()
made = re.sub(r"(## Options\n\n.*?\n\n)\|.*?\n\n", lambda found: found[1] + "\n".join(table) + "\n\n", text, count=1, flags=re.S)
if os.environ.get("KW_UPDATE_GOLDEN"):
    with open(document, "w") as file:
        file.write(made)
    text = made
h.check("\n".join(table) in text, "the table of options in docs/cli.md differs from help --json")
h.finish()
