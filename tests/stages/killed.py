"""Money when the process is killed: no call that the server saw is missing from the ledger, and limits count it.

    killed.py KERNELWRIGHT
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from common import KEY, RIGHT, ModelServer, Talks, fenced

jobs = Talks(sys.argv[1])
check = jobs.check
LLM = ["--proposer", "llm", "--retries", "performance=0", "--retries", "polish=0", "--candidates", "1", "--goal", "1000"]


def events(folder, kind):
    with open(os.path.join(folder, "events.jsonl")) as file:
        return [event["data"] for event in map(json.loads, file) if event["kind"] == kind]


with ModelServer(steps=[{"fault": "hang", "seconds": 3600}], key=KEY) as server:
    env = {**jobs.environment, **jobs.serve(server)}
    process = subprocess.Popen([jobs.binary, "synthesize", "--reference", jobs.reference, *jobs.words, *LLM], env=env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=jobs.folder)
    while process.poll() is None and not server.requests():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    folder = jobs.newest()
    check(len(events(folder, "llm_reserved")) == len(server.requests()) == 1, "the call is on disk before its answer")
    view = json.loads(jobs.run("inspect", folder, "--json").stdout)
    check(view["unsettled_calls"] == 1, "inspect says so: %s" % view["unsettled_calls"])
    shown = jobs.run("inspect", folder)
    check(re.search(r"1 calls have no recorded answer; they count as spent: up to \d+ tokens, up to \$", shown.stdout), "in words", shown)

    # Under a limit of calls the lost one counts.
    server.state.steps = [{"text": fenced(RIGHT)}]
    done = jobs.run("resume", folder, "--max-calls", "1", env=jobs.serve(server))
    check(len(server.requests()) == 1 and "1 of 1 calls" in done.stdout + done.stderr, "the limit is spent", done)
    report = jobs.report(folder)
    check(any("had no recorded answer" in text for text in report["report"]["warnings"]), "resume says so: %s" % report["report"]["warnings"])
    done = jobs.run("resume", folder, "--max-calls", "2", env=jobs.serve(server))
    report = jobs.report(folder)
    check(done.returncode == 0 and report["passed"] and len(server.requests()) == 2, "with one more it goes on", done)
    total = report["models"]["ledger"]["total"]
    check(total["calls"] == 2 and total["calls_of_unknown_cost"] == 1 and total["usd_at_most_unknown"] > 0, "the ledger has both: %s" % total)

# Tokens.
done, requests, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], *LLM, "--max-tokens", "100")
check(not requests and "100" in done.stdout + done.stderr and "tokens" in done.stdout + done.stderr, "no call can fit into 100 tokens", done)

# A model without a price: no false limit in dollars.
done, requests, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], *LLM, "--model-id", "openai:nobody-knows-it")
words = done.stdout + done.stderr
check("no price is known for openai:nobody-knows-it" in words and "at most $" not in words and "--max-calls" in words, "no limit is claimed", done)
done, requests, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], *LLM, "--model-id", "openai:nobody-knows-it", "--budget", "1", "--max-calls", "3")
check(done.returncode == 0 and len(requests) == 1, "a limit of calls allows it", done)
jobs.finish()
