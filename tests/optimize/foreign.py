"""CUDA files with a host launcher become kernel modules, and these are right."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import Harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
h = Harness(sys.argv[1])
h.environment["KERNELWRIGHT_LIBCUDA"] = "/nowhere/libcuda.so.1"
compiler = h.compiler()

CASES = [
    ("softmax", ["--dims", '{"B": 64, "D": 100}'], ["launch  softmax_rows grid(B) block(128) args(x, y, D)"]),
    ("gemm", ["--dims", '{"M": 33, "N": 70, "K": 96}'], ["scratch product: fp32[M * N]", "when", "gemm_tiled<16>"]),
    ("reduction", [], ["launch  import_set_bytes", "shared(1024)"]),
    ("layernorm_half", ["--dims", '{"rows": 9, "D": 200}', "--input", "eps=1e-5"], ["fp16[D * rows]", "scalar  eps: fp32 = 1e-5"]),
]
for name, words, expected in CASES:
    folder = os.path.join(HERE, "foreign", name)
    module, reference = h.path(name + ".cu"), os.path.join(folder, "ref.py")
    done = h.run("import", os.path.join(folder, "solve.cu"), "--reference", reference, *words, "--out", module, "--json")
    h.check(done.returncode == 0, name + ": is imported", done)
    if done.returncode != 0:
        continue
    document = json.loads(done.stdout)
    text = open(module).read()
    for line in expected:
        h.check(line in text, "%s: '%s' in\n%s" % (name, line, text))
    h.check(text == document["module"], name + ": the module in the document is the one in the file")
    scalars = [word for pair in zip(words, words[1:]) if pair[0] == "--input" for word in pair]
    judged = h.run("verify", module, "--reference", reference, *document["task_options"], *scalars, "--device", "vgpu",
                   "--compiler", compiler, "--cross-check", "never")
    h.check(judged.returncode == 0, name + ": what was imported is right", judged)

softmax = os.path.join(HERE, "foreign", "softmax", "solve.cu")
h.expect("no shapes", ["import", softmax], 2, r"shape of 'x' is not known.*--input 'x:fp32\[…\]'.*shape of 'y'")
h.expect("shapes by hand", ["import", softmax, "--input", "x:fp32[B,D]", "--input", "y:fp32[B,D]"], 0, r"//! input   x: fp32\[B, D\]")
h.expect("no dims", ["import", softmax, "--reference", os.path.join(HERE, "foreign", "softmax", "ref.py")], 2, "no value for B, D")
h.expect("no file", ["import", "nowhere.cu"], 2, "no such file")
h.expect("a module", ["import", os.path.join(HERE, "plain", "softmax", "kernel.cu")], 2, "is a kernel module already")
h.expect("no launcher", ["import", h.write("empty.cu", "__global__ void k() {}\n")], 2, "no host function that launches a kernel")
done = h.run("import", h.write("bad.cu", "extern \"C\" void solve(Foo* a) { k<<<1, 1>>>(a); }\n"), "--json")
h.check(done.returncode == 2 and json.loads(done.stdout)["problems"][0]["line"] == 1, "problems are in the document", done)
h.finish()
