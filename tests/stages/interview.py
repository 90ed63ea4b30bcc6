"""What is open is asked of a model, and by it of the user; and a whole suite with a model.

    interview.py KERNELWRIGHT
"""
import csv
import json
import os
import pty
import subprocess
import sys

from common import KEY, RIGHT, SONNET, ModelServer, Talks, fenced, last

jobs = Talks(sys.argv[1])
check = jobs.check
LLM = ["--proposer", "llm", "--retries", "performance=0", "--retries", "polish=0", "--goal", "1000"]


def spec_of(folder):
    return json.loads(jobs.read(folder, "inputs/spec.json"))["kernel_spec"]


# Words the phrases do not know are put to the model; its notes and priority become part of the frozen spec.
answer = {"notes": "used while somebody waits", "optimization_priority": "latency", "precision_tolerance": {"rtol": 10}}
done, requests, folder, left = jobs.talk([{"text": fenced(json.dumps(answer) + "\n", "json")}, {"text": fenced(RIGHT)}],
                                         *LLM, "--prompt", "somebody sits waiting while fortran prints")
check(done.returncode == 0 and left == 0, "an interview, then a kernel", done)
check("fortran prints" in last(requests[0]) and "Do not give tolerances" in last(requests[0]), "the open words are asked about")
spec = spec_of(folder)
check(spec["optimization_priority"] == "latency" and "somebody waits" in spec["notes"], "the answers are in the spec: %s" % spec)
check(spec["precision_tolerance"] == {"rtol": None, "atol": None}, "but never a tolerance")
check("somebody waits" in requests[1]["conversation"]["system"], "and the next stage sees them")
trace = {row["stage_name"]: row for row in jobs.report(folder)["report"]["stage_traces"]}["interview"]
check(trace["model_used"] == SONNET and trace["attempts"] == 1 and trace["tokens_out"] > 0, "the trace: %s" % trace)
check(jobs.read(folder, "stage1_interview/llm_response.md") and jobs.read(folder, "llm/0001-interview-attempt-1.json"), "all of it is kept")

# Prose instead of JSON: the run continues without it, and says so.
done, _, folder, _ = jobs.talk([{"text": "It depends, I would say."}, {"text": fenced(RIGHT)}], *LLM, "--prompt", "as the fortran does")
check(done.returncode == 0 and "interview" in str(jobs.report(folder)["report"]["warnings"]), "an interview without answers", done)

# Inputs without a description.
bare = jobs.write("bare.py", "import torch\n\ndef scale(x):\n    return x * 2.0 + 1.0\n")
with ModelServer(steps=[{"text": '{"inputs": ["x:fp32[N]"]}'}, {"text": fenced(RIGHT)}], key=KEY) as server:
    # Without --dim, which says how long flat buffers are.
    done = jobs.run("synthesize", "--reference", bare, "--cross-check", "never", "--compiler", jobs.compiler(), "--versus", "none", *LLM,
                    env=jobs.serve(server))
    check(done.returncode == 0 and len(server.requests()) == 2, "a model describes the inputs", done)
    check("dtype and symbolic shape of every" in last(server.requests()[0]), "which is what it was asked: " + last(server.requests()[0]))
check(spec_of(jobs.newest())["inputs"][0]["dtype"] == "fp32", "and the spec has them")

# The model's question reaches the user at the terminal.
controller, terminal = pty.openpty()
with ModelServer(steps=[{"text": '{"questions": ["How long are the vectors?"]}'}, {"text": '{"notes": "long vectors"}'},
                        {"text": fenced(RIGHT)}], key=KEY) as server:
    process = subprocess.Popen([jobs.binary, "synthesize", "--reference", jobs.reference, *jobs.words, *LLM, "--prompt",
                                "like the fortran one", "--ask"], env={**jobs.environment, **jobs.serve(server)}, cwd=jobs.folder,
                               stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True)
    seen = ""
    while "How long are the vectors?" not in seen and process.poll() is None:
        seen += os.read(controller, 4096).decode()
    os.write(controller, b"a million\n")
    os.set_blocking(controller, False)
    out, _ = process.communicate(timeout=120)
    check(process.returncode == 0, "asked and answered\n" + seen + out)
    check("a million" in last(server.requests()[1]), "the model gets the answer")
    check(spec_of(jobs.newest())["notes"] == "long vectors", "and uses it")
os.close(controller)
os.close(terminal)

# A suite: above five tasks the cost is said, and without a terminal it needs an agreement in advance.
done = jobs.run("eval", "--suite", "internal", "--model-id", SONNET, env={"KERNELWRIGHT_PROVIDERS": jobs.path("providers.toml")})
check(done.returncode == 2 and "42 tasks with " + SONNET in done.stderr and "at most $84" in done.stderr and "--yes" in done.stderr,
      "a suite's cost is estimated and not spent", done)
os.makedirs(jobs.path("suite/scale"))
jobs.write("suite/scale/reference.py", 'import torch\n\ndef scale(x: "fp32[N]"):\n    return x * 2.0 + 1.0\n')
jobs.write("suite/scale.py", 'import torch\n\ndef scale(x: "fp32[N]"):\n    return x * 2.0 + 1.0\n')
with ModelServer(steps=[{"text": fenced(RIGHT)}], key=KEY) as server:
    done = jobs.run("eval", "--suite", jobs.path("suite/scale.py"), "--model-id", SONNET, *LLM[:-2], "--dim", "N=4096", "--versus", "none",
                    "--cross-check", "never", "--out", jobs.path("results"), "--compiler", jobs.compiler(), env=jobs.serve(server))
check(done.returncode == 0, "one task needs no agreement", done)
rows = list(csv.DictReader(jobs.read(jobs.folder, "results/results.csv").splitlines()))
check(rows and rows[0]["model_id"] == SONNET and rows[0]["provider"] == "llm" and float(rows[0]["cost_usd"]) > 0,
      "the row has model and cost: %s" % rows)

jobs.finish()
