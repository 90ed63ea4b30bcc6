"""Recorded conversations: what is sent, and every line that comes back. KW_UPDATE_GOLDEN=1 records again; the diff is the review.

Each file of transcripts/ has lines "> sent" and "< said". What changes from machine to machine stands as a word in angle brackets.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import Harness, ROOT  # noqa: E402

h = Harness(sys.argv[1])
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transcripts")
environment = dict(h.environment, KERNELWRIGHT_RUNS=h.path("runs"))


def plain(line):
    """What is the same everywhere, with members in a fixed order."""
    text = json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False)
    text = re.sub(re.escape(ROOT), "<root>", text)
    return re.sub(r'("version|"kernelwright)(\\?": \\?"|\\?":\\?")\d+\.\d+\.\d+', r"\1\2<version>", text)


def converse(sent):
    """Lines are sent one at a time, each when all that the one before it deserves has come."""
    process = subprocess.Popen([h.binary, "mcp", "--root", ROOT], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    said = []
    for line in sent:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        said.append((line, []))
        if '"method": "notifications/' not in line:
            said[-1][1].append(plain(process.stdout.readline()))
    process.stdin.close()
    rest = process.stdout.read()
    h.check(rest == "" and process.wait(20) == 0, "nothing is said unasked: %s" % rest[:300])
    h.check(process.stderr.read() == "", "nothing on standard error")
    return said


for name in sorted(os.listdir(FOLDER)):
    path = os.path.join(FOLDER, name)
    with open(path, encoding="utf-8") as file:
        recorded = file.read()
    said = converse([line[2:] for line in recorded.splitlines() if line.startswith("> ")])
    text = "".join("> %s\n%s" % (line, "".join("< %s\n" % answer for answer in answers)) for line, answers in said)
    if os.environ.get("KW_UPDATE_GOLDEN"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        recorded = text
    for number, (old, new) in enumerate(zip(recorded.splitlines(), text.splitlines()), 1):
        h.check(old == new, "%s:%d\n  recorded %s\n  now      %s" % (name, number, old[:1500], new[:1500]))
    h.check(recorded.count("\n") == text.count("\n"), name + " has as many lines as before")
h.finish()
