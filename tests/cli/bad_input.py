"""Every kind of bad input gets a clear error with the right exit code, and nothing is left behind."""
import os
import re
import struct
import sys

from harness import Harness, ROOT, npy

h = Harness(sys.argv[1])
compiler = h.compiler()
GOOD = os.path.join(ROOT, "examples", "rms_norm.cu")
DIMS = ["--dim", "B=2", "--dim", "D=64"]
VGPU = ["--device", "vgpu", "--compiler", compiler]


def run(module, *words):
    return ["run", module, *VGPU, *words]


# The file itself.
h.expect("missing file", run("no_such.cu"), 2, r"no_such\.cu")
h.expect("missing file suggests nothing odd", ["check", "no_such.cu"], 2, r"no_such\.cu")
os.mkdir(h.path("folder"))
h.expect("a folder", run("folder"), 2, r"folder")
h.expect("a device", run("/dev/zero"), 2, r"/dev/zero")
h.expect("empty", run(h.write("empty.cu", "")), 2, r"empty\.cu is empty")
h.expect("blank", run(h.write("blank.cu", " \n\n\t\n")), 2, r"is empty")
h.expect("binary", run(h.write("a.out", b"\x7fELF\x02\x01\x01\x00\x00\x00")), 2, r"binary file")
h.expect("not UTF-8", run(h.write("latin.cu", b"//! kernelwright 1\n//! task \xe9t\xe9\n")), 2, r"latin\.cu:2:10: error: the byte 0xE9 is not UTF-8.*save the file as UTF-8")
h.expect("huge", run(h.write("huge.cu", b"//! kernelwright 1\n" + b"// x\n" * 1200000)), 2, r"huge\.cu.*(large|limit|more than)")
h.expect("wrong version", run(h.write("v9.cu", "//! kernelwright 9\n//! task x\n")), 2, r"v9\.cu:1:.*version")
h.expect("no version line", run(h.write("plain.cu", "__global__ void k() {}\n")), 2, r"kernelwright 1")
done = h.expect("many problems at once", run(h.write("many.cu", "//! kernelwright 1\n//! tusk x\n//! input y: fp17[N]\n")), 2,
                r"many\.cu:2:.*many\.cu:3:")
h.check("hint" in done.stderr, "problems carry hints", done)
if os.getuid() != 0:
    os.chmod(h.write("secret.cu", "//! kernelwright 1\n"), 0)
    h.expect("unreadable", run("secret.cu"), 2, r"secret\.cu.*ermission")

# Dims, tunables, scalars.
h.expect("unknown dim", run(GOOD, *DIMS, "--dim", "Q=3"), 2, r"Q")
h.expect("missing dim", run(GOOD, "--dim", "B=2"), 2, r"\bD\b")
h.expect("negative dim", run(GOOD, "--dim", "B=-1", "--dim", "D=64"), 2, r"-1")
h.expect("dim beyond 2^40", run(GOOD, "--dim", "B=2", "--dim", "D=1099511627777"), 2, r"1099511627777")
h.expect("dim 2^40", run(GOOD, "--dim", "B=1099511627776", "--dim", "D=64"), 2, r"1099511627776")
h.expect("dim not a number", run(GOOD, "--dim", "B=two"), 2, r"'two' is not a whole number")
h.expect("dim too long", run(GOOD, "--dim", "B=99999999999999999999999"), 2, r"64 bits")
h.expect("dim without value", run(GOOD, "--dim", "B"), 2, r"NAME=VALUE")
h.expect("dims not JSON", run(GOOD, "--dims", "B=2"), 2, r"--dims")
h.expect("dims not an object", run(GOOD, "--dims", "[2]"), 2, r"JSON object")
h.expect("one dim twice in JSON", run(GOOD, "--dims", '{"B": 2, "D": 64, "B": 3}'), 2, r"--dims gives B twice")
h.expect("dims twice", run(GOOD, "--dims", '{"B": 2, "D": 64}', "--dim", "B=3"), 2, r"2 and as 3")
h.expect("unknown tune", run(GOOD, *DIMS, "--tune", "THREDS=128"), 2, r"THREDS.*THREADS")
h.expect("tune not in list", run(GOOD, *DIMS, "--tune", "THREADS=100"), 2, r"100")
h.expect("unknown scalar", run(GOOD, *DIMS, "--scalar", "epsilon=1"), 2, r"no such scalar")
h.expect("scalar not a number", run(GOOD, *DIMS, "--scalar", "eps=tiny"), 2, r"'tiny' is not a number")
h.expect("absent but required", run(GOOD, *DIMS, "--absent", "x"), 2, r"not an optional input")
h.expect("tensors larger than memory", run(GOOD, "--dim", "B=1073741824", "--dim", "D=4096"), 3, r"memory")
h.expect("outside the domain", run(h.write("domain.cu", """//! kernelwright 1
//! task  copy
//! input x: fp32[N]
//! output y: fp32[N]
//! when  N % 4 == 0
//! launch copy grid(N / 4) block(4) args(x, y)
__global__ void copy(const float* x, float* y) { y[blockIdx.x * 4 + threadIdx.x] = x[blockIdx.x * 4 + threadIdx.x]; }
"""), "--dim", "N=7"), 2, r"domain.*N")

# Inputs.
floats = struct.pack("<2048f", *([1.0] * 2048))
halves = b"\x00\x3c" * 128
h.expect("input not declared", run(GOOD, *DIMS, "--input", "z=normal"), 2, r"no tensor 'z'")
h.expect("output as input", run(GOOD, *DIMS, "--input", "y=normal"), 2, r"does not read 'y'")
h.expect("unknown family", run(GOOD, *DIMS, "--input", "x=gaussian"), 2, r"families: normal")
h.expect("input twice", run(GOOD, *DIMS, "--input", "x=normal", "--input", "x=ones"), 2, r"twice")
h.expect("range upside down", run(GOOD, *DIMS, "--input", "x=uniform:7:9..3"), 2, r"LOW\.\.HIGH")
nan = h.write("nan.npy", npy("<f2", (2, 64), b"\x00\x7e\x00\x7c" + halves[4:]))
done = h.expect("NaN in a file", run(GOOD, "--input", "x=" + nan), 0, r"y +fp16")
h.check("input x holds 1 NaN and 1 infinities among 128 values" in done.stderr, "NaN of a user's file is said", done)
h.expect("missing npy", run(GOOD, *DIMS, "--input", "x=none.npy"), 2, r"none\.npy")
h.expect("wrong dtype", run(GOOD, "--input", "x=" + h.write("f4.npy", npy("<f4", (2, 64), floats[:512]))), 2, r"fp32.*fp16 is expected")
h.expect("wrong rank", run(GOOD, "--input", "x=" + h.write("r1.npy", npy("<f2", (128,), halves * 1))), 2, r"x")
h.expect("shape against --dim", run(GOOD, "--dim", "B=3", "--input", "x=" + h.write("ok.npy", npy("<f2", (2, 64), halves))), 2, r"disagrees")
h.expect("truncated npy", run(GOOD, *DIMS, "--input", "x=" + h.write("cut.npy", npy("<f2", (2, 64), halves[:100]))), 2, r"truncated")
h.expect("text as npy", run(GOOD, *DIMS, "--input", "x=" + h.write("t.npy", "hello")), 2, r"not an \.npy")
h.expect("pickle in npy", run(GOOD, *DIMS, "--input", "x=" + h.write("o.npy", npy("|O", (2, 64), halves))), 2, r"pickled")

# Names of files that a compiler would take for something else, and inline assembly that is not PTX.
with open(GOOD, "rb") as file:
    text = file.read()
# NVRTC reads the byte 0xFF as the end of the file, so our reader would see more than the compiler.
h.expect("a byte that ends the file", ["check", h.write("ends.cu", text.replace(b"{\n", b"{\n/* \xff */\n", 1)), "--compiler", compiler], 2,
         r"ends\.cu:\d+:4: error: the byte 0xFF is not UTF-8")
for name in ("-O3.cu", "a \"b\\\n.cu", b"\xff.cu".decode("utf-8", "surrogateescape")):
    h.expect("the name %r" % name, run(h.write(name, text), *DIMS), 0, r"no findings")
ASM = """//! kernelwright 1
//! task  odd
//! output y: int32[N]
//! launch odd grid(1) block(32) args(y)
__global__ void odd(int* y) {
  asm volatile("%s");
  y[threadIdx.x] = 1;
}
"""
for name, assembly, message in (("label", "bra NOWHERE;", r"unknown label 'NOWHERE' at odd\.cu:6 \(ptx line \d+\).*hint: check the module's inline assembly"),
                                ("name", "mov.b32 " + "a" * 5000 + ", 1;", r"a…"),
                                ("instruction", "cp.async.bulk.commit_group;", r"unsupported instruction cp\.async\.bulk\.commit_group at odd\.cu:6")):
    done = h.run(*run(h.write("odd.cu", ASM % assembly), "--dim", "N=32"))
    h.check(done.returncode == 3 and re.search(message, done.stdout, re.S) and len(done.stdout) < 3000, "a strange " + name, done)

# Where to run, and with what.
h.expect("unknown device", ["run", GOOD, *DIMS, "--device", "tpu"], 2, r"'tpu' is not one of auto, gpu, vgpu")
h.expect("no GPU", ["run", GOOD, *DIMS, "--device", "gpu"], 3, r"no CUDA driver", env={"KERNELWRIGHT_LIBCUDA": "/nonexistent/libcuda.so.1"})
h.expect("unknown target", run(GOOD, *DIMS, "--target", "sm_13"), 2, r"sm_13.*sm_90")
h.expect("unknown compiler", ["run", GOOD, *DIMS, "--device", "vgpu", "--compiler", "gcc"], 2, r"'gcc'.*nvrtc, nvcc, clang")
h.expect("no clang", ["run", GOOD, *DIMS, "--device", "vgpu", "--compiler", "clang"], 3, r"no clang was found.*Ways to get one", env={"PATH": "/nonexistent"})
h.expect("no NVRTC", ["run", GOOD, *DIMS, "--device", "vgpu", "--compiler", "nvrtc"], 3, r"no nvrtc was found.*/nonexistent.*Ways to get one",
         env={"KERNELWRIGHT_NVRTC": "/nonexistent"})
os.mkdir(h.path("old"))
h.write("old/clang", "#!/bin/sh\necho 'Debian clang version 14.0.6'\n")
os.chmod(h.path("old/clang"), 0o755)
h.expect("clang too old", ["run", GOOD, *DIMS, "--device", "vgpu", "--compiler", "clang"], 3, r"version 14\.0\.6, 19 or newer is needed",
         env={"PATH": h.path("old")})
h.expect("time without a GPU", run(GOOD, *DIMS, "--time"), 3, r"times come only from a real GPU")
h.expect("threads", run(GOOD, *DIMS, "--threads", "0"), 2, r"--threads")
h.expect("timeout too short", run(GOOD, *DIMS, "--timeout", "0.001"), 2, r"--timeout: '0.001' is not a number of seconds from 0.01 to a week")
h.expect("nothing required", ["verify", GOOD, "--reference", os.path.join(ROOT, "examples", "rms_norm.py"), *VGPU, "--require", ",,"], 2,
         r"',,' holds an empty name; names are: ieee, tf32")
h.expect("timeout", run(GOOD, *DIMS, "--timeout", "0"), 2, r"--timeout")
h.expect("output folder cannot be made", run(GOOD, *DIMS, "--output", "/proc/nowhere"), 2, r"/proc/nowhere")
h.expect("output folder is a file", run(GOOD, *DIMS, "--output", h.write("file", "")), 2, r"file")

# A cache that cannot be written costs time, not results.
done = h.expect("cache read-only", run(GOOD, *DIMS), 0, r"no findings", env={"KERNELWRIGHT_CACHE": "/proc/kernelwright"})
h.check("/proc/kernelwright" in done.stderr, "an unusable cache is mentioned", done)

# A reference with other weights at one of its shapes: said by every command that reads the task.
os.mkdir(h.path("block"))
h.write("block/reference.py", """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.main = nn.Linear(channels_in, channels_out)
        self.side = nn.Linear(channels_in, channels_out) if channels_in != channels_out else None

    def forward(self, x):
        return self.main(x) + (x if self.side is None else self.side(x))


channels_in, channels_out = 8, 16


def get_inputs():
    return [torch.randn(4, channels_in)]


def get_init_inputs():
    return [channels_in, channels_out]
""")
h.write("block/task.toml", """[shapes]
benchmark = [{ channels_in = 8, channels_out = 16 }]
correctness = [{ channels_in = 4, channels_out = 8 }, { channels_in = 16, channels_out = 16 }]
""")
OTHER = r"channels_in=16 channels_out=16: the reference does not have the task's inputs .no 'side_weight', no 'side_bias'. at this shape"
for words in (["describe", "block"], ["verify", GOOD, "--reference", "block"], ["bench", GOOD, "--reference", "block"],
              ["synthesize", "--reference", "block"], ["evolve", "block"], ["optimize", GOOD, "--reference", "block"],
              ["profile", GOOD, "--reference", "block"]):
    more = [] if words[0] == "describe" else VGPU
    h.expect("other inputs at one shape: " + words[0], [*words, *more], 2, OTHER)
done = h.run("lint", "block")
h.check(done.returncode == 1 and re.search(r"unreadable.*" + OTHER, done.stdout) is not None, "other inputs at one shape: lint", done)

# The words themselves.
h.expect("one option twice", run(GOOD, *DIMS, "--device", "gpu"), 2, r"--device is given twice, as 'vgpu' and as 'gpu'; see 'kernelwright help run'")
h.expect("option without a value", ["run", GOOD, "--dim"], 2, r"--dim needs a value")
h.expect("no such task", ["lint", GOOD, "no_such.py"], 2, r"no_such\.py: no such file")
h.expect("unknown command", ["rnu", GOOD], 2, r"no command 'rnu' \(did you mean 'run'\?\)")
h.expect("unknown option", run(GOOD, "--counter"), 2, r"no option --counter \(did you mean '--counters'\?\)")
h.expect("no module", ["run"], 2, r"run needs a MODULE")
h.expect("too many words", ["run", GOOD, "more"], 2, r"'more' was not expected")
h.expect("help for nothing", ["help", "chek"], 2, r"did you mean 'check'")
h.expect("doctor has what", ["doctor", "--has", "cuda"], 2, r"known tools: nvrtc")
done = h.run()
h.check(done.returncode == 2 and "usage: kernelwright COMMAND" in done.stderr, "no words at all show the usage", done)

# Standard output that cannot be written is an error, not silence.
done = __import__("subprocess").run([h.binary, "version"], stdout=open("/dev/full", "wb"), stderr=-1)
h.check(done.returncode == 3 and b"standard output" in done.stderr, "full disk on standard output")

# The same errors as JSON.
done = h.run("run", "no_such.cu", "--json")
h.check(done.returncode == 2 and done.stderr == "", "JSON errors go to standard output", done)
document = __import__("json").loads(done.stdout)
h.check(document["ok"] is False and document["exit_code"] == 2 and document["error"]["blame"] == "input" and
        "no_such.cu" in document["error"]["message"], "JSON error", done)
left = [name for name in os.listdir(h.folder) if name.startswith(".") or name.endswith(".tmp")]
h.check(not left, "nothing is left behind: %s" % left)
h.finish()
