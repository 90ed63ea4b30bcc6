"""A model as the author of branches: optimize --proposer llm through HTTP on the virtual GPU. The first answer cannot be used, the next
holds a wrong module, one that does not compile and a good one; all of it is kept, counted, and can be replayed without a network."""
import glob
import json
import os
import sys

import desk
from engineer import fences, fenced

PARENT = """//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    THREADS in 128
//! launch  scale grid(ceil_div(N, THREADS * 8)) block(THREADS) args(x, y, N)

__global__ void scale(const float* x, float* y, long long n) {
  const long long begin = (static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x) * 8;
  for (int k = 0; k < 8; ++k) {
    const long long i = begin + k;
    if (i < n) y[i] = x[i] * 2.0f + 1.0f;
  }
}
"""
REFERENCE = '''import torch

def scale(x: "fp32[N]"):
    return x * 2.0 + 1.0
'''
METHOD = "memory.coalesced_access"


class Brancher:
    """Reads the parent out of the request and changes its index; makes mistakes beside it."""

    def __init__(self, seen):
        self.seen = seen

    def __call__(self, conversation, state):
        text = conversation["messages"][-1]["text"]
        self.seen.append(text)
        if len(self.seen) == 1:
            return {"text": "Neighbouring threads should read neighbouring elements."}
        first = conversation["messages"][0]["text"]
        parent = next(inside for word, inside in fences(first)[0] if word == "cuda") + "\n"
        good = self.coalesced(parent)
        return {"text": "Three ways.\n" + fenced(good.replace("1.0f;", "1.5f;")) + fenced(good.replace("x[i]", "z[i]")) + fenced(good)}

    @staticmethod
    def coalesced(parent):
        plan = f"//! tune    NEAR in 1, 0\n//! method  {METHOD} when NEAR == 1, off NEAR=0\n//! launch "
        index = ("const long long i = NEAR ? (static_cast<long long>(blockIdx.x) * 8 + k) * THREADS + threadIdx.x : begin + k;")
        return parent.replace("//! launch ", plan).replace("const long long i = begin + k;", index)


def main():
    talks = desk.stages_common.Talks(sys.argv[1])
    kernel, reference = talks.write("scale.cu", PARENT), talks.write("scale.py", REFERENCE)
    words = ["optimize", kernel, "--reference", reference, "--dim", "N=100000", "--device", "vgpu", "--target", "sm_90", "--proposer", "llm",
             "--iterations", "1", "--branches", "3", "--cross-check", "never", "--compiler", talks.compiler(), "--seed", "5", "--json"]
    seen, tape = [], talks.path("tape.jsonl")
    with desk.ModelServer(respond=Brancher(seen), key=desk.KEY) as server:
        done = talks.run(*words, "--out", talks.path("one"), "--record", tape, env=talks.serve(server))
        requests = server.requests()
    talks.check(done.returncode == 0, "the run ends well", done)
    run = glob.glob(talks.path("one") + "/run_*")[0]
    talks.check(len(requests) == 2 and "cannot be used" in seen[1], "an answer without a module is asked for again", done)
    for part in (METHOD, "parent", "What is known about the kernel"):
        talks.check(part in seen[0], "the request says " + part)
    results = json.loads(talks.read(run, "iterv1/branch_results.json"))
    verdicts = json.dumps(results)
    talks.check("wrong" in verdicts and "rejected" in verdicts, "the judge refuses two: " + verdicts[:2000])
    talks.check("NEAR" in talks.read(run, "iterv1/kernel.cu"), "the good one is the champion", done)
    talks.check(METHOD in talks.read(run, "iterv1/attribution.json"), "its method is taken out once")
    talks.check(talks.read(run, "models/stage_optimize/iter_01_try_01/prompt_1.md"), "what was asked is kept")
    calls = [json.loads(line) for line in talks.read(run, "models/events.jsonl").split("\n") if line]
    talks.check(len([row for row in calls if row["kind"] == "llm_call"]) == 2, "every call is in the ledger")
    talks.check(not talks.has_text(run, desk.KEY) and desk.KEY not in done.stdout + done.stderr, "no key is kept or shown")
    talks.check(talks.folder not in json.dumps(requests), "no path of this machine is sent")

    again = talks.run(*words, "--out", talks.path("two"), "--replay", tape)
    talks.check(again.returncode == 0, "it can be replayed without a network and a key", again)
    twin = glob.glob(talks.path("two") + "/run_*")[0]
    talks.check(talks.read(twin, "iterv1/kernel.cu") == talks.read(run, "iterv1/kernel.cu"), "with the same champion", again)

    absent = talks.run(*words, "--out", talks.path("three"), "--replay", talks.path("none.jsonl"))
    talks.check(absent.returncode in (2, 3) and "none.jsonl" in absent.stdout + absent.stderr, "a cassette that is not there is said", absent)
    talks.check(not os.path.exists(talks.path("three")), "before anything is made")
    talks.finish()


main()
