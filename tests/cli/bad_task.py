"""References and task folders that are wrong, or look so: what describe says of them, and where it looks."""
import os
import pty
import subprocess
import sys

from harness import Harness

h = Harness(sys.argv[1])
PLAIN = 'import torch\nN = 1000\ndef scale(x: "fp32[N]", factor: float = 2):\n    return x * factor\n'


def refused(name, text, pattern, *words):
    h.expect(name, ["describe", h.write(name.replace(" ", "_") + ".py", text), *words], 2, pattern)


def read(name, text, pattern, *words):
    h.expect(name, ["describe", h.write(name.replace(" ", "_") + ".py", text), *words], 0, pattern)


# The bytes of the file.
read("byte order mark", b"\xef\xbb\xbf" + PLAIN.encode(), r"x: fp32\[N\]")
refused("latin", PLAIN.encode() + b"# \xe9t\xe9\n", r"latin\.py:5:3: error: the byte 0xE9 is not UTF-8.*hint: save the file as UTF-8")
refused("a surrogate", PLAIN.encode() + b"# \xed\xa0\x80\n", r":5:3: error: the byte 0xED is not UTF-8")
refused("coding line", b"# coding: latin-1\n" + PLAIN.encode(), r"coding_line\.py:1:1: error: .*the coding line names iso-8859-1; only UTF-8 is read")
read("coding line of UTF-8", b"# -*- coding: utf-8 -*-\n" + PLAIN.encode(), r"x: fp32\[N\]")

# Bounds at file level, as in task.toml.
for value in ('"1e-3"', "-1.0", "float('nan')", "float('inf')", "[1e-3]"):
    refused("a bound", "atol = %s\n%s" % (value, PLAIN), r"a_bound\.py:1:8: error: atol is .*; it must be a number of 0 or more")
refused("the other bound", "atol = 1e-3\nrtol: float = -1\n" + PLAIN, r"the_other_bound\.py:2:15: error: rtol is -1; it must be")
read("good bounds", "atol = 1e-3\nrtol = None\n" + PLAIN, r"x: fp32\[N\]")

# A number that no kernel can be judged at, and a file that is named with its problem.
h.expect("a scalar", ["describe", h.write("a_scalar.py", PLAIN), "--input", "factor=nan"], 2,
         r"--input factor: a kernel cannot be judged at NaN")
h.expect("a constant", ["describe", h.write("a_scalar.py", PLAIN), "--input", "factor=-inf"], 0, r"x: fp32\[N\]")  # such as a mask's value
refused("huge", PLAIN.replace("1000", "10**15"), r"huge\.py: input 'x': extent 'N' is 1000000000000000")

# Literal extents stay literal, whatever --dim says; the annotated function is the reference.
IMAGE = 'import torch\ndef f(x: "fp16[B, 64, 56, 56]"):\n    return torch.relu(x)\n'
read("image", IMAGE, r"x: fp16\[B, 64, 56, 56\] ")
read("image", IMAGE, r"x: fp16\[B, 64, 56, 56\] += \[7, 64, 56, 56\]", "--dim", "B=7")
read("image", IMAGE, r"x: fp16\[B, 64, 56, 56\] += \[7, 64, 56, 56\]", "--dims", '{"B": 7}')
read("image of the file", "B = 7\n" + IMAGE, r"x: fp16\[B, 64, 56, 56\] ")
HELPER = "import torch\ndef helper(x):\n    return x * 2\n"
read("annotated main", HELPER + 'def main(x: "fp32[N]"):\n    return helper(x) + 1\n', r"main\(\) is the reference: its inputs have dtypes and shapes")
read("one that none calls", HELPER + "def top(x):\n    return helper(x) + 1\n", r"top\(\) is the reference: no other function calls it",
     "--input", "x:fp32[N]")
read("named", HELPER + "def named(x):\n    return x + 1\n", r"named\(\) is the reference: it is named like the file", "--input", "x:fp32[N]")

# task.toml: the file, and the key that is wrong.
TOML = 'name = "t"\n[inputs]\nx = "fp32[N]"\n'
BARE = "def reference(x):\n    return x * 2\n"
for name, text, pattern in (
        ("empty", "", r"empty/task\.toml: the inputs of reference\(\) are not known: x"),
        ("negative", TOML + "[shapes]\nbenchmark = [{N = -4}]\n", r"negative/task\.toml, benchmark: input 'x': extent 'N' is -4"),
        ("too_large", TOML + "[shapes]\nbenchmark = [{N = 99999999999}]\n", r"too_large/task\.toml, benchmark: input 'x' of shape \[N\] needs"),
        ("other_dim", TOML + "[shapes]\ncorrectness = [{M = 3}]\n", r"other_dim/task\.toml, correctness: the task has no dim 'M'"),
        ("multiple", TOML + "[dims]\nN = {min = 1, max = 500, multiple = 0}\n", r"multiple/task\.toml:5:\d+: 'multiple' must be 1 or more"),
        ("least", TOML + "[dims]\nN = {min = -5, max = 500}\n", r"least/task\.toml:5:\d+: 'min' must be 0 or more"),
        ("between", TOML + "[dims]\nN = {min = 3, max = 7, multiple = 64}\n", r"between/task\.toml:5:\d+: dim N: no value lies between 3 and 7 in steps of 64"),
        ("far", TOML + "[dims]\nN = {min = 10000000000, max = 20000000000}\n",
         r"far/task\.toml: the smallest N the task allows \(10000000000\) is more than can be judged here; pass --dims")):
    os.mkdir(h.path(name))
    h.write(name + "/reference.py", BARE)
    h.write(name + "/task.toml", text)
    h.expect(name, ["describe", name], 2, pattern)
for name, dims, pattern in (("low", "N = {min = 1, max = 500, multiple = 3}", r"at N=498"),
                            ("high", "N = {min = 9000001, max = 10000000, multiple = 8}", r"at N=9000008")):
    os.mkdir(h.path(name))
    h.write(name + "/reference.py", BARE)
    h.write(name + "/task.toml", TOML + "[dims]\n" + dims + "\n")
    h.expect("an assumed value lies in its range: " + name, ["describe", name], 0, pattern)

# Shapes that nothing here can judge.
os.mkdir(h.path("vast"))
h.write("vast/reference.py", BARE)
h.write("vast/task.toml", TOML + "[shapes]\nbenchmark = [{N = 2000000000}]\n[dims]\nN = {min = 2000000000, max = 3000000000}\n")
done = h.run("lint", "vast")
h.check(done.returncode == 1 and "kill-rate] nothing was judged: no shape of the task is small enough" in done.stdout and "0 cells" not in done.stdout,
        "lint judged nothing", done)

# A status line rewrites itself only on a terminal that knows how.
for kind, codes in (("xterm", True), ("dumb", False), (None, False)):
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in h.environment.items() if key != "TERM"}
    if kind:
        environment["TERM"] = kind
    subprocess.run([h.binary, "lint", h.write("seen.py", PLAIN), "--seeds", "2"], env=environment, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=theirs, timeout=300)
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    h.check((b"\x1b[K" in said) == codes, "TERM=%s: %r" % (kind, said[:200]))
h.finish()
