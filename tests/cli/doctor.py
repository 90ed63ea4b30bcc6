"""doctor says what is there and what is not, and what a missing thing costs."""
import json
import os
import sys

from harness import Harness

h = Harness(sys.argv[1], own_cache=True)
TOOLS = ("nvrtc nvcc clang cuda-headers driver gpu nvidia-smi ncu ncu-counters cuobjdump nvdisasm compute-sanitizer "
         "python3 torch triton walls cutlass").split()

done = h.run("doctor", "--json")
document = json.loads(done.stdout)
h.check(done.returncode == (0 if document["compiler"] else 3), "exit code follows from the compiler", done)
h.check(list(document["tools"]) == TOOLS, "tools: %s" % list(document["tools"]))
for name, tool in document["tools"].items():
    h.check(tool["state"] in ("found", "limited", "missing"), name + " has a state")
    if tool["state"] != "found":
        h.check(len(tool["cost"]) > 10 and len(tool["remedy"]) > 10, name + ": cost and remedy")
    if tool["state"] == "found":
        h.check(bool(tool["path"]), name + " has a path")
h.check(document["host"]["cores"] > 0 and document["host"]["available_bytes"] > 0, "host facts")
text = h.run("doctor")
h.check("\033" not in text.stdout, "no colour in a pipe", text)
h.check("NVRTC" in text.stdout and "CUTLASS" in text.stdout, "text names the tools", text)

# Which providers of language models have a key, and never which key.
keys = {"ANTHROPIC_API_KEY": "sk-planted-77aa", "OPENAI_API_KEY": "", "GEMINI_API_KEY": "", "KERNELWRIGHT_PROVIDERS": "",
        "XDG_CONFIG_HOME": h.path("config")}
done = h.run("doctor", "--json", env=keys)
models = json.loads(done.stdout)["models"]["providers"]
h.check(models["anthropic"]["has_key"] and models["anthropic"]["note"] == "key from ANTHROPIC_API_KEY", "a key is seen", done)
h.check(not models["openai"]["ready"] and "OPENAI_API_KEY" in models["openai"]["note"], "a missing key is named", done)
text = h.run("doctor", env=keys)
h.check("anthropic (key from ANTHROPIC_API_KEY)" in text.stdout, "text names the provider", text)
h.check("sk-planted" not in done.stdout + done.stderr + text.stdout + text.stderr, "the key is not shown")
h.write("broken.toml", "[provider.x]\nwire = 'smoke signals'\n")
done = h.run("doctor", env={**keys, "KERNELWRIGHT_PROVIDERS": h.path("broken.toml")})
h.check("broken.toml:1:1" in done.stdout, "a broken providers.toml is said", done)

# No compiler at all: exit 3, and every place that was looked at.
bare = {"PATH": "/nonexistent", "KERNELWRIGHT_NVRTC": "/nonexistent", "CUDA_HOME": "", "CUDA_PATH": ""}
if not any(name.startswith("cuda") for name in os.listdir("/usr/local")):
    done = h.run("doctor", env=bare)
    h.check(done.returncode == 3 and "not ready" in done.stdout and "searched:" in done.stdout, "no compiler", done)
h.check(h.run("doctor", "--has", "nvrtc", env=bare).returncode == 1, "--has nvrtc without it")
h.check(h.run("doctor", "--has", "clang", env=bare).returncode == 1, "--has clang without it")

# CUTLASS by its variables.
os.makedirs(h.path("cutlass/include/cutlass"))
h.write("cutlass/include/cutlass/cutlass.h", "#pragma once\n")
h.write("cutlass/include/cutlass/version.h", "#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 1\n")
for variables in ({"CUTLASS_PATH": h.path("cutlass")}, {"CUTLASS_INCLUDE_DIR": h.path("cutlass/include")}):
    done = h.run("doctor", "--has", "cutlass", env=variables)
    h.check(done.returncode == 0 and "4.2.1" in done.stdout, "CUTLASS by %s" % list(variables), done)
done = h.run("doctor", "--has", "cutlass", "--json", env={"CUTLASS_PATH": h.path("nowhere"), "CUTLASS_INCLUDE_DIR": ""})
h.check(done.returncode == 1 and "no cutlass/cutlass.h" in json.loads(done.stdout)["note"], "CUTLASS path without it", done)

# PyTorch is what references are executed with: the Python that is named, and never one that PYTHONPATH makes up.
os.chmod(h.write("python", "#!/bin/sh\necho 9.9.0\n"), 0o755)
done = h.run("doctor", "--has", "torch", env={"KW_TORCH_PYTHON": h.path("python")})
h.check(done.returncode == 0 and "9.9.0" in done.stdout, "torch of $KW_TORCH_PYTHON", done)
os.makedirs(h.path("site/torch"))
h.write("site/torch/__init__.py", "")
done = h.run("doctor", "--has", "torch", env={"KW_TORCH_PYTHON": sys.executable, "PYTHONPATH": h.path("site")})
h.check("site" not in done.stdout, "torch of $PYTHONPATH", done)
h.check(h.run("doctor", "--has", "walls").returncode in (0, 1), "the sandbox is a row")

# A program that is there but does not work is not "found".
os.mkdir(h.path("bin"))
h.write("bin/nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n")
h.write("bin/cuobjdump", "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.39'\n")
for name in ("nvidia-smi", "cuobjdump"):
    os.chmod(h.path("bin/" + name), 0o755)
path = {"PATH": h.path("bin") + ":" + os.environ["PATH"]}
done = h.run("doctor", "--has", "nvidia-smi", "--json", env=path)
h.check(done.returncode == 1 and "cannot reach a driver" in json.loads(done.stdout)["note"], "broken nvidia-smi", done)
done = h.run("doctor", "--has", "cuobjdump", env=path)
h.check(done.returncode == 0 and "13.0.39" in done.stdout, "cuobjdump's version", done)
done = h.run("doctor", "--has", "ncu-counters", "--json", env={"KERNELWRIGHT_LIBCUDA": "/nonexistent/libcuda.so.1"})
document = json.loads(done.stdout)
h.check(done.returncode == 1 and document["note"] in ("ncu is missing", "there is no GPU"), "counters need ncu and a GPU", done)
h.finish()
