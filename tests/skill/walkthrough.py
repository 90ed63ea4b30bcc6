"""The walkthrough of the skill, executed: files are written, commands run in one shell, and what the page quotes must have been said.

Blocks of the page: "```LANGUAGE title=PATH" is a file, "```sh" is run, "```text" quotes the block before it; in a quoted line … stands for
anything.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import Harness, ROOT  # noqa: E402

SKILL = os.path.join(ROOT, "skills", "kernelwright")
h = Harness(sys.argv[1])
h.compiler()


def read(*names):
    with open(os.path.join(SKILL, *names), encoding="utf-8") as file:
        return file.read()


blocks = re.findall(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", read("references", "walkthrough.md"), re.S | re.M)
h.check(sum(kind == "sh" for kind, _, _ in blocks) >= 8 and sum(kind == "text" for kind, _, _ in blocks) >= 6, "the page has its blocks")

# One shell for the whole page; between two blocks it says where it is.
os.makedirs(h.path("bin"))
os.symlink(h.binary, h.path("bin/kernelwright"))
os.makedirs(h.path("work"))
script = ["set -eu"]
for number, (kind, title, text) in enumerate(blocks):
    script.append("echo '@@ %d'" % number)
    if title:
        script.append('mkdir -p "$(dirname "%s")"\ncat > "%s" <<\'KW_END_OF_FILE\'\n%sKW_END_OF_FILE' % (title, title, text))
    elif kind == "sh":
        script.append(text)
done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=h.path("work"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, text=True, encoding="utf-8", timeout=500,
                      env=dict(h.environment, PATH=h.path("bin") + os.pathsep + os.environ["PATH"], KERNELWRIGHT_RUNS=h.path("runs")))
h.check(done.returncode == 0, "every command of the page works:\n%s" % done.stdout[-3000:])
said = {int(number): text for number, text in re.findall(r"^@@ (\d+)\n(.*?)(?=^@@ |\Z)", done.stdout, re.S | re.M)}

for number, (kind, _, text) in enumerate(blocks):
    if kind != "text":
        continue
    output, at = said.get(number - 1, ""), 0
    for line in text.splitlines():
        pattern = ".*".join(re.escape(piece.strip()) for piece in line.strip().split("…"))
        found = re.compile(pattern).search(output, at)
        h.check(found is not None, "block %d says %r; it said:\n%s" % (number, line, output[at:at + 1500]))
        at = found.end() if found else at

# Pages the skill points to exist, and every command it shows is one.
for page in ("SKILL.md", os.path.join("references", "walkthrough.md"), os.path.join("references", "optimization_catalog.md")):
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", read(page)):
        h.check(os.path.exists(os.path.join(SKILL, os.path.dirname(page), link)), "%s links to %s" % (page, link))
help_text = h.run("help").stdout
for name in sorted(set(re.findall(r"(?:^|`)kernelwright ([a-z]+)", read("SKILL.md"), re.M))):
    h.check(re.search(r"^  %s\b" % name, help_text, re.M) is not None, "SKILL.md speaks of 'kernelwright %s'" % name)
head = read("SKILL.md")
h.check(re.match(r"---\nname: kernelwright\ndescription: .{40,1000}\n---\n", head) is not None, "SKILL.md has its head")

# The template of analysis.md has the headings that open-iter writes.
runs = [name for name in os.listdir(h.path("work")) if name.startswith("run_")]
if runs:
    with open(os.path.join(h.path("work"), runs[0], "iterv1", "analysis.md"), encoding="utf-8") as file:
        written = re.findall(r"^## (.*)$", file.read(), re.M)
    h.check(re.findall(r"^## (.*)$", read("templates", "analysis.md"), re.M) == written, "templates/analysis.md has the headings %s" % written)
# Tools that SKILL.md names in brackets are offered by the server.
tools = set(re.findall(r"\[([a-z]+(?:_[a-z]+)*)\](?!\()", read("SKILL.md")))
done = subprocess.run([h.binary, "mcp"], cwd=h.path("work"), env=h.environment, text=True, capture_output=True, timeout=600, input=(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'))
offered = set(re.findall(r'"name":"([a-z_]+)"', done.stdout))
h.check(tools and tools <= offered, "SKILL.md names tools that are not offered: %s" % sorted(tools - offered))
h.finish()
