"""What goes wrong with models and around them: a clear error or a fallback, nothing lost, the cost so far shown.

    trouble.py KERNELWRIGHT
"""
import os
import signal
import subprocess
import sys
import time

from common import BROKEN, KEY, RIGHT, SONNET, WRONG, ModelServer, Talks, fenced, last

jobs = Talks(sys.argv[1])
check = jobs.check
SHORT = ["--retries", "performance=0", "--retries", "polish=0", "--candidates", "1", "--goal", "1000"]
LLM = ["--proposer", "llm", *SHORT]
HYBRID = ["--proposer", "hybrid", *SHORT]


def warnings(folder):
    return "\n".join(jobs.report(folder)["report"]["warnings"])


# No key anywhere: everything is as it was without models, and says nothing of them.
done = jobs.synthesize(jobs.reference, "--candidates", "1", env={"HOME": jobs.folder})
report = jobs.report(jobs.newest())
check(done.returncode == 0 and report["search"]["proposer"] == "builtin" and "models" not in report, "no key: the built-in proposer", done)
check(report["report"]["total_cost_usd"] == 0 and "stage2_codegen" not in os.listdir(jobs.newest()), "and nothing of a model in the run")
# With a key hybrid is what happens.
with ModelServer(steps=[{"text": fenced(RIGHT)}], key=KEY) as server:
    toml = jobs.write("keyed.toml", server.providers_toml().replace("KW_TEST_KEY", "ANTHROPIC_API_KEY"))
    done = jobs.synthesize(jobs.reference, *SHORT, env={"KERNELWRIGHT_PROVIDERS": toml, "ANTHROPIC_API_KEY": KEY})
check(done.returncode == 0 and jobs.report(jobs.newest())["search"]["proposer"] == "hybrid", "a key: hybrid", done)
# A model asked for without a key: the variable is named; hybrid continues without it.
with ModelServer(key=KEY) as server:
    env = {**jobs.serve(server), "KW_TEST_KEY": ""}
    done = jobs.synthesize(jobs.reference, *LLM, env=env)
    check(done.returncode in (2, 3) and "KW_TEST_KEY" in done.stderr, "llm without a key names the variable", done)
    check(jobs.report(jobs.newest())["failed_stage"] == "codegen", "and the report is complete")
    done = jobs.synthesize(jobs.reference, *HYBRID, env=env)
    check(done.returncode == 0 and "KW_TEST_KEY" in warnings(jobs.newest()), "hybrid falls back, with a warning", done)

# What is refused before anything starts.
for words, pattern in [(["--proposer", "lmm"], r"did you mean 'llm'"),
                       (["--proposer", "llm", "--model-id", "nobody:x"], "unknown provider 'nobody'"),
                       (["--stage-model", "codgen=openai:gpt-4.1", "--proposer", "llm"], r"did you mean 'codegen'"),
                       (["--retries", "polish=many", "--proposer", "llm"], "not a number of attempts"),
                       (["--budget", "-1", "--proposer", "llm"], "--budget"),
                       (["--replay", "/nowhere.jsonl"], "/nowhere.jsonl"),
                       (["--record", "a", "--replay", "b"], "give one of the two"),
                       (["--ask", "--proposer", "llm"], "terminal")]:
    jobs.expect(" ".join(words), ["synthesize", "--reference", jobs.reference, *jobs.words, *words], 2, pattern)

# Failures of every kind: llm fails with a report, hybrid ships what the built-in proposer found.
FAULTS = {
    "wrong key": ([{"status": 401, "message": "invalid x-api-key", "kind": "authentication_error"}], "authentication"),
    "unknown model": ([{"status": 404, "message": "model: no such", "kind": "not_found_error"}], "not found"),
    "HTML": ([{"fault": "html"}], "HTML|html|JSON"),
    "10 MB": ([{"fault": "big"}], "MB|large|bytes"),
    "no money": ([{"status": 400, "message": "Your credit balance is too low", "kind": "invalid_request_error"}], "credit"),
}
for name, (steps, pattern) in FAULTS.items():
    done, requests, folder, _ = jobs.talk(steps * 6, *LLM)
    report = jobs.report(folder)
    check(done.returncode in (1, 2, 3) and report["failed_stage"] == "codegen", f"llm, {name}: fails at codegen", done)
    check(report["performance"] is None and "ledger" in report["models"], f"{name}: the report is complete")
    check("cost" in done.stdout, f"{name}: the cost so far is shown", done)
    check(KEY not in done.stdout + done.stderr + str(report), f"{name}: no key")
    done, _, folder, _ = jobs.talk(steps * 6, *HYBRID)
    check(done.returncode == 0 and jobs.report(folder)["passed"], f"hybrid, {name}: ships the built-in's", done)
    check("provider failed" in warnings(folder), f"hybrid, {name}: with a warning: " + warnings(folder))

# Offline: no server listens.
toml = jobs.write("offline.toml", '[provider.anthropic]\nbase_url = "http://127.0.0.1:9"\nkey_env = "KW_TEST_KEY"\n')
done = jobs.synthesize(jobs.reference, *HYBRID, env={"KERNELWRIGHT_PROVIDERS": toml, "KW_TEST_KEY": KEY})
check(done.returncode == 0 and "provider failed" in warnings(jobs.newest()), "offline: the built-in's kernel, with a warning", done)

# No budget: nothing is sent. An unknown price: reported under the default cap, refused under one that was given.
done, requests, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], *HYBRID, "--budget", "0")
check(done.returncode == 0 and not requests and "budget" in warnings(folder), "budget 0 sends nothing", done)
done, requests, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], *LLM, "--model-id", "anthropic:claude-unheard-of")
check(done.returncode == 0 and jobs.report(folder)["report"]["total_cost_usd"] is None, "an unknown price is null, not 0", done)
check("no price is known" in done.stderr and "unknown" in done.stdout, "and said before and after", done)
done, requests, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], *LLM, "--model-id", "anthropic:claude-unheard-of", "--budget", "1")
check(done.returncode != 0 and not requests, "a cap that cannot be kept sends nothing", done)

# A model that only calls tools, one that names tools that do not exist, one that refuses.
def tool_loop(conversation, state):
    return {"calls": [{"name": "read_catalog", "arguments": {"words": ""}}]}


done, requests, folder, _ = jobs.talk(None, *LLM, "--retries", "codegen=1", respond=tool_loop)
check(done.returncode == 1 and len(requests) == 12, "a tool loop ends: %d requests" % len(requests), done)
check("rounds of tool calls" in str(jobs.report(folder)["models"]["attempts"]), "and says so")
done, requests, folder, _ = jobs.talk(
    [{"calls": [{"name": "launch_rockets", "arguments": {}}, {"name": "verify", "arguments": "not json"}]}, {"text": fenced(RIGHT)}], *LLM)
check(done.returncode == 0, "tools that do not exist are answered", done)
results = [result["content"] for result in requests[1]["conversation"]["messages"][-1]["results"]]
check("there is no tool" in results[0] and "not a JSON object" in results[1], "in words: %s" % results)
done, requests, folder, _ = jobs.talk([{"text": "I cannot help.", "stop": "refusal"}] * 3, *LLM)
check(done.returncode == 1 and "refusal" in str(jobs.report(folder)["models"]["attempts"]), "refusals end it", done)

# Escalation, only when asked for.
steps = [{"text": fenced(BROKEN.replace("factor", f"factor{i}"))} for i in range(3)] + [{"text": fenced(RIGHT)}]
done, requests, folder, left = jobs.talk(steps, *LLM)
check(done.returncode == 1 and len(requests) == 3, "no escalation unasked", done)
done, requests, folder, left = jobs.talk(steps, *LLM, "--escalate")
check(done.returncode == 0 and requests[-1]["conversation"]["model"] == "claude-opus-4-7", "escalated", done)
check("factor2" in last(requests[-1]) and "codegen 1 by" in last(requests[-1]), "with the whole history")
trace = {row["stage_name"]: row for row in jobs.report(folder)["report"]["stage_traces"]}["codegen"]
check(trace["attempts"] == 4 and "claude-opus-4-7" in trace["model_used"] and SONNET in trace["model_used"], "both in the trace: %s" % trace)
check(jobs.read(folder, "stage2_codegen/escalated/attempt_01/llm_response.md"), "and in the folder")

# A polish that breaks the kernel changes nothing.
done, _, folder, _ = jobs.talk([{"text": fenced(RIGHT)}, {"text": fenced(WRONG)}], "--proposer", "llm", "--retries", "performance=0")
check(done.returncode == 0 and "1.001f" not in jobs.read(folder, "final/kernel.cu"), "the verified kernel ships", done)
check("polish" in warnings(folder), "and the warning says so: " + warnings(folder))

# Ctrl-C in the middle of a request: what was judged is kept, the cost is shown, resume continues and asks nothing twice.
with ModelServer(steps=[{"text": fenced(WRONG)}, {"fault": "hang", "seconds": 3600}], key=KEY) as server:
    env = {**jobs.environment, **jobs.serve(server)}
    process = subprocess.Popen([jobs.binary, "synthesize", "--reference", jobs.reference, *jobs.words, *LLM], env=env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=jobs.folder)
    while process.poll() is None and not (server.requests() and server.requests()[-1]["problem"] == "fault hang"):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    folder = jobs.newest()
    report = jobs.report(folder)
    check(process.returncode == 130 and report["interrupted"], "Ctrl-C: interrupted\n" + out + err)
    check("kernelwright resume" in out + err and "cost" in out, "how to go on, and the cost\n" + out + err)
    check(len(report["models"]["ledger"]["calls"]) == 2, "both calls are in the ledger: %s" % report["models"]["ledger"])
    before = report["models"]["ledger"]["total"]["usd_known"]
    server.state.steps = [{"text": fenced(RIGHT)}]
    asked = len(server.requests())
    done = jobs.run("resume", folder, env=jobs.serve(server))
    report = jobs.report(folder)
    check(done.returncode == 0 and report["passed"], "resume ships", done)
    check(len(server.requests()) == asked + 1 and "1.001f" in last(server.requests()[-1]), "it continues with the repair", done)
    check(len(report["models"]["ledger"]["calls"]) == 3 and report["models"]["ledger"]["total"]["usd_known"] > before, "the ledger is whole")
    check(report["models"]["attempts"][0]["stage"] == "codegen", "and so is the history: %s" % report["models"]["attempts"])

jobs.finish()
