"""The checkout of a stranger as the working directory, full of traps: nothing in it is run, loaded or trusted."""
import os
import shutil
import subprocess
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1], own_cache=True)
compiler = h.compiler()
MODULE, REFERENCE = (os.path.join(ROOT, "examples", name) for name in ("rms_norm.cu", "rms_norm.py"))
HOSTILE, SPRUNG = h.path("checkout"), h.path("sprung")
PROGRAMS = ["nvcc", "clang", "ptxas", "nvdisasm", "cuobjdump", "fatbinary", "cicc", "ncu", "compute-sanitizer", "nvidia-smi", "python",
            "python3", "gcc", "g++", "cc", "c++", "ld", "as", "git", "sh", "bash", "curl", "kernelwright", "lscpu", "ldconfig",
            *("clang-%d" % major for major in range(19, 31))]
PYTHON = ["sitecustomize", "usercustomize", "torch", "triton", "ast", "json", "re", "os", "importlib", "linecache", "traceback", "struct"]
LIBRARIES = ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc.so", "libcuda.so.1", "libnvidia-ml.so.1", "libcurl.so.4",
             "libcupti.so.13", "libkernelwright.so", "libgcc_s.so.1"]
PACKAGES = "lib/python3.11/site-packages"
SETTINGS = '[[provider]]\nname = "trapped"\nwire = "openai-chat"\nbase_url = "http://127.0.0.1:1"\nkey = "none"\n'


def place(*parts):
    path = os.path.join(HOSTILE, *parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def script(*parts):
    """A program that tells of itself, and then fails as one that is not there."""
    path = place(*parts)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n/usr/bin/touch %s/%s\nexit 127\n" % (SPRUNG, "-".join(parts).replace(" ", "_")))
    os.chmod(path, 0o755)


def library(*parts):
    """A shared library that tells of itself as soon as it is loaded."""
    shutil.copy(os.path.join(h.folder, "trap.so"), place(*parts))


os.makedirs(SPRUNG)
source = h.write("trap.cpp", '#include <cstdio>\n__attribute__((constructor)) static void sprung() {\n'
                 '  if (FILE* file = std::fopen("%s/library", "w")) std::fclose(file);\n}\n' % SPRUNG)
subprocess.run(["g++", "-shared", "-fPIC", "-o", h.path("trap.so"), source], check=True)
for name in PROGRAMS:
    for folder in ([], ["bin"], ["cuda", "bin"], [".venv", "bin"]):
        script(*folder, name)
for folder in ("torch-venv", "build/torch-venv", "sub/torch-venv", "sub/build/torch-venv", "venv", ".local"):
    for name in ("python", "python3"):
        script(folder, "bin", name)
for name in LIBRARIES:
    for folder in (".", "lib64", "cuda/lib64", "lib"):
        library(folder, name)
    for folder in (".venv", "nvrtc-venv", "build/nvrtc-venv", "sub/.venv", "sub/nvrtc-venv", "venv", ".local", "cache/venv"):
        library(folder, PACKAGES, "nvidia/cu13/lib", name)
for name in PYTHON:
    for folder in (".", "sub"):
        with open(place(folder, name + ".py"), "w") as file:
            file.write("open(%r, 'w')\n" % ("%s/%s.py" % (SPRUNG, name)))
for name in ("providers.toml", "config/kernelwright/providers.toml", "kernelwright.toml", ".config/kernelwright/providers.toml"):
    with open(place(name), "w") as file:
        file.write(SETTINGS)
# Two files that are named, and lie among the traps.
shutil.copy(MODULE, place("kernel.cu"))
shutil.copy(REFERENCE, place("reference.py"))
os.makedirs(place("empty", "x"))

os.environ.pop("LD_LIBRARY_PATH", None)
PLAIN = {"HOME": h.path("home"), "KERNELWRIGHT_RUNS": h.path("runs"), "PATH": ":.:bin::" + os.environ["PATH"] + ":"}
RELATIVE = {**PLAIN, "VIRTUAL_ENV": ".venv", "CONDA_PREFIX": "venv", "CUDA_HOME": "cuda", "CUDA_PATH": ".", "XDG_CONFIG_HOME": "config",
            "XDG_CACHE_HOME": "cache", "PYTHONPATH": ".", "CUTLASS_PATH": "."}
VGPU = ["--device", "vgpu", "--compiler", compiler]
DIMS = ["--dim", "B=2", "--dim", "D=64"]
COMMANDS = [
    ["doctor"], ["doctor", "--looked"], ["doctor", "--has", "nvrtc"], ["check", MODULE, "--compiler", compiler], ["describe", REFERENCE],
    ["describe", "reference.py"], ["verify", MODULE, "--reference", REFERENCE, *VGPU, *DIMS, "--family", "offset"],
    ["verify", "kernel.cu", "--reference", "reference.py", *VGPU, *DIMS, "--family", "offset"], ["run", MODULE, *DIMS, *VGPU],
    ["lint", "reference.py", "--seeds", "2"], ["sass", MODULE, *DIMS], ["profile", "kernel.cu", *DIMS, *VGPU], ["runs"],
    ["synthesize", "--reference", "reference.py", "--time", "1s", "--candidates", "1", "--quick", *VGPU, *DIMS], ["screen", "empty"],
]


def run(words, env, binary=h.binary):
    environment = {**h.environment, **env}
    done = subprocess.run([binary, *words], env=environment, cwd=HOSTILE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300)
    sprung = sorted(os.listdir(SPRUNG))
    h.check(not sprung, "%s in a hostile folder: %s" % (" ".join(words), ", ".join(sprung)), done)
    h.check("trapped" not in done.stdout + done.stderr, "%s: settings of the folder are believed" % words[0], done)
    for name in sprung:
        os.unlink(os.path.join(SPRUNG, name))
    return done


for words in COMMANDS:
    run(words, PLAIN)
for words in (COMMANDS[0], COMMANDS[1], COMMANDS[3], COMMANDS[6], COMMANDS[10]):
    done = run(words, {**RELATIVE, "KERNELWRIGHT_CACHE": ""})
h.check("$CUDA_HOME: cuda: not an absolute path" in run(["doctor", "--looked"], RELATIVE).stdout, "doctor says what it does not follow")
h.check("must be an absolute path" in run(["doctor"], RELATIVE).stderr, "a relative variable is told of")

# The loader takes an empty entry for the working directory. What a program is linked with it loads before the program can say anything.
os.unlink(place("libgcc_s.so.1"))
for libraries in (":/nowhere", "/nowhere:", ".", "/nowhere::/usr/lib"):
    for words in (["doctor"], ["verify", MODULE, "--reference", REFERENCE, *VGPU, *DIMS, "--family", "offset"]):
        run(words, {**PLAIN, "LD_LIBRARY_PATH": libraries})

# A copy of the program in such a folder is not in its build folder any more.
os.makedirs(place("sub", "x"), exist_ok=True)
copy = shutil.copy(h.binary, place("sub", "kernelwright-copy"))
for words in (["doctor"], ["verify", MODULE, "--reference", REFERENCE, *VGPU, *DIMS, "--family", "offset"]):
    run(words, PLAIN, copy)

# What is named by a relative path in a variable is refused, and the message says why.
NAMED = [
    ("KERNELWRIGHT_NVRTC", ".venv/%s/nvidia/cu13/lib" % PACKAGES, ["run", MODULE, *DIMS, "--device", "vgpu"], "must be an absolute path"),
    ("KERNELWRIGHT_LIBCUDA", "./libcuda.so.1", ["run", MODULE, *DIMS, "--device", "gpu"], "absolute path"),
    ("KERNELWRIGHT_PROVIDERS", "providers.toml", ["synthesize", "--reference", REFERENCE, "--proposer", "llm", *VGPU],
     "must be an absolute path"),
    ("KW_TORCH_PYTHON", "build/torch-venv/bin/python", ["verify", MODULE, "--reference", REFERENCE, *VGPU, "--cross-check", "always"],
     "not an absolute path"),
]
for variable, value, words, pattern in NAMED:
    done = run(words, {**PLAIN, variable: value})
    h.check(done.returncode in (2, 3) and pattern in done.stdout + done.stderr, "%s=%s is refused" % (variable, value), done)
if compiler == "nvrtc":
    done = run(["run", MODULE, *DIMS, *VGPU], {**PLAIN, "KERNELWRIGHT_WORKER": "./kernelwright", "KERNELWRIGHT_CACHE": h.path("cold")})
    h.check("must be an absolute path" in done.stderr, "KERNELWRIGHT_WORKER", done)
h.finish()
