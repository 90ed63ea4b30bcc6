"""What the tests of the stages share: jobs that talk to the strict model server, and modules a model might write."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for neighbour in ("synthesize", "llm"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), neighbour))
import importlib.util  # noqa: E402

from server import ModelServer  # noqa: E402

# Both folders have a common.py.
spec = importlib.util.spec_from_file_location("synthesize_common", os.path.join(os.path.dirname(HERE), "synthesize", "common.py"))
synthesize_common = importlib.util.module_from_spec(spec)
spec.loader.exec_module(synthesize_common)
skip = synthesize_common.skip

KEY = "sk-planted-9e3779b97f4a"
SONNET = "anthropic:claude-sonnet-4-6"
REFERENCE = '''import torch

def scale(x: "fp32[N]"):
    return x * 2.0 + 1.0
'''

PLAN = """//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    THREADS in 256, 128
//! launch  scale<THREADS> grid(ceil_div(N, THREADS)) block(THREADS) args(x, y, N)
"""


def module(body, comment="", plan=PLAN):
    """A module for REFERENCE; `body` is what each thread does with index i of n."""
    return (plan + comment + "template <int kThreads>\n__global__ void scale(const float* x, float* y, long long n) {\n"
            "  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;\n  " + body + "\n}\n")


RIGHT = module("if (i < n) y[i] = x[i] * 2.0f + 1.0f;")
WRONG = module("if (i < n) y[i] = x[i] * 2.0f + 1.001f;")  # compiles and is not right
TAIL = module("if (i + 1 < n) y[i] = x[i] * 2.0f + 1.0f;")  # forgets the last element
BROKEN = module("if (i < n) y[i] = x[i] * factor + 1.0f;")  # does not compile


def fenced(text, word="cuda"):
    return f"```{word}\n{text}```\n"


class Talks(synthesize_common.Jobs):
    """Jobs whose providers are all one model server."""

    def __init__(self, binary):
        super().__init__(binary)
        if subprocess.run(["sh", "-c", "ldconfig -p | grep -q libcurl"]).returncode:
            skip("there is no libcurl")
        for name in [name for name in self.environment if name.endswith("_API_KEY") or "proxy" in name.lower()]:
            del self.environment[name]
        self.reference = self.write("scale.py", REFERENCE)
        self.words += ["--dim", "N=100003", "--versus", "none"]

    def serve(self, server, **more):
        """The environment in which every provider is this server."""
        path = self.write("providers.toml", server.providers_toml())
        return {"KERNELWRIGHT_PROVIDERS": path, "KW_TEST_KEY": KEY, **more}

    def talk(self, steps, *words, env=None, respond=None):
        """One synthesize with these answers; the process, the server's log and the run's folder."""
        with ModelServer(steps=steps, respond=respond, key=KEY) as server:
            done = self.synthesize(self.reference, *words, env={**self.serve(server), **(env or {})})
            requests, left = server.requests(), len(server.state.steps)
        folder = self.newest() if self.runs() else None
        return done, requests, folder, left

    def read(self, folder, name):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def has_text(self, folder, text):
        """Files of a folder that hold a text."""
        found = []
        for root, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(root, name)
                with open(path, "rb") as file:
                    if text.encode() in file.read():
                        found.append(path)
        return found


def last(request):
    return request["conversation"]["messages"][-1]["text"]
