"""synthesize with a model: from its first answer to a shipped kernel, and everything that is kept of it.

    stages.py KERNELWRIGHT
"""
import json
import os
import sys

from common import BROKEN, KEY, PLAN, RIGHT, SONNET, TAIL, Talks, fenced, last, module

jobs = Talks(sys.argv[1])
check = jobs.check

# A compile error, a wrong tail, then right; a faster one that is wrong; comments at the end.
POLISHED = RIGHT.replace("template", "// One thread per element: the kernel only waits for memory.\n// 9x faster than PyTorch.\ntemplate")
CHEAT = module("if (i < n && n != 100003) y[i] = x[i] * 2.0f + 1.0f;")
done, requests, folder, left = jobs.talk(
    [{"text": "First try.\n" + fenced(BROKEN)}, {"text": fenced(TAIL)}, {"text": fenced(RIGHT)}, {"text": fenced(CHEAT)},
     {"text": fenced(POLISHED)}],
    "--proposer", "llm", "--retries", "performance=1", "--goal", "1000")
check(done.returncode == 0 and left == 0, "a kernel is shipped", done)
check(all(row["status"] == 200 for row in requests), "the server accepts every request", done)
report = jobs.report(folder)
check(report["passed"] and report["search"]["proposer"] == "llm", "the report says so")
check("is undefined" in last(requests[1]) or "undeclared" in last(requests[1]), "the compiler's error goes back: " + last(requests[1])[:600])
check("x[i] * factor" in last(requests[1]), "with the source")
check("i + 1 < n" in last(requests[2]), "the wrong source goes back")
check("worst element" in last(requests[2]) or "y[" in last(requests[2]), "with the worst element: " + last(requests[2])[:800])
check(jobs.folder not in json.dumps([row["body"] for row in requests]), "no path of this machine is sent")
kernel = jobs.read(folder, "final/kernel.cu")
check("only waits for memory" in kernel and "faster than PyTorch" not in kernel, "polished, without the model's claims: " + kernel[:700])
check("Verified by kernelwright" in kernel and "never measured" in kernel, "with the engine's numbers")
check(jobs.read(folder, "stage5_polish/final/kernel.cu") == kernel, "and the view shows it")
traces = {row["stage_name"]: row for row in report["report"]["stage_traces"]}
check([name for name in report["report"]["stages_executed"] if name not in ("reference", "machine", "search", "certify")]
      == ["interview", "codegen", "correctness", "performance", "polish"], "all stages: %s" % report["report"]["stages_executed"])
check(traces["codegen"]["attempts"] == 2 and traces["codegen"]["model_used"] == SONNET, "codegen's trace: %s" % traces["codegen"])
check(traces["correctness"]["tokens_in"] > 0 and traces["correctness"]["tokens_out"] > 0, "tokens are counted")
check(traces["interview"]["model_used"] == "none", "nothing was open, so no model was asked")
check(report["report"]["total_cost_usd"] > 0 and report["report"]["total_llm_tokens_in"] > 0, "the cost is known")
check(len(report["models"]["ledger"]["calls"]) == 5, "five calls in the ledger")
check(sum(row["cache_read_tokens"] for row in traces.values()) > 0, "and some of it was cached: %s" % traces)
for name in ("stage1_interview/kernel_spec.json", "stage2_codegen/attempt_01/kernel.cu", "stage2_codegen/attempt_01/compile.log",
             "stage2_codegen/attempt_01/llm_response.md", "stage2_codegen/final/kernel.cu", "stage3_correctness/result.json",
             "stage3_repair/attempt_01/codegen/attempt_01/kernel.cu", "stage4_performance/perf_repair/attempt_01/llm_response.md",
             "stage5_polish/llm_response.md", "llm/0001-codegen-attempt-1.json"):
    check(jobs.read(folder, name), "the folder has " + name)
lineage = [json.loads(jobs.read(folder, f"candidates/{name}/lineage.json")) for name in jobs.added(folder)]
models = [row for row in lineage if row["proposer"] == "llm"]
check(len(models) >= 4 and all(row["model_id"] == SONNET for row in models), "lineage names the model")
check(any(row["stage"] == "performance" and row["attempt"] == 1 for row in models), "and stage and attempt")
cheat = [event for event in jobs.events(folder) if event["kind"] == "attempt" and event["data"]["stage"] == "performance"]
check(cheat and "is not right" in cheat[0]["data"]["outcome"], "what is wrong at the timed shape is never timed: %s" % cheat)
check("$" in done.stdout and "models" in done.stdout, "the summary has the cost", done)
check("at most $2" in done.stderr, "the budget is shown before the first call", done)
check(not jobs.has_text(folder, KEY) and KEY not in done.stdout + done.stderr, "the key is nowhere")
spec = json.loads(jobs.read(folder, "inputs/spec.json"))["kernel_spec"]
check(spec["hash"] and spec["outputs"][0]["shape"] == ["N"] and spec["inputs"][0]["dtype"] == "fp32", "the frozen spec: %s" % spec)

# Without transcripts and without the reference nothing of either stays.
done, requests, folder, left = jobs.talk([{"text": fenced(RIGHT)}], "--proposer", "llm", "--no-transcripts", "--no-store-reference",
                                         "--retries", "performance=0", "--retries", "polish=0")
check(done.returncode == 0, "the same without transcripts", done)
check(not jobs.has_text(folder, "return x * 2.0") and not os.path.exists(os.path.join(folder, "llm")), "no reference, no exchange")
check(len(jobs.report(folder)["models"]["ledger"]["calls"]) == 1, "the ledger stays")
done, _, folder, _ = jobs.talk([{"text": fenced(RIGHT)}], "--proposer", "llm", "--no-store-reference", "--retries", "performance=0",
                               "--retries", "polish=0")
check(done.returncode == 0 and not jobs.has_text(folder, "return x * 2.0"), "transcripts without the reference: %s" % jobs.has_text(folder, "return x * 2.0"))

# Hybrid: the built-in proposer first; a model's diff against its module.
def improve(conversation, state):
    state["calls"] = state.get("calls", 0) + 1
    return {"text": fenced(RIGHT)} if state["calls"] == 1 else {"text": "I see nothing more to gain."}


done, requests, folder, _ = jobs.talk(None, "--proposer", "hybrid", "--goal", "1000", "--candidates", "2", "--retries", "performance=1",
                                      "--retries", "polish=0", respond=improve)
check(done.returncode == 0 and len(requests) == 2, "hybrid ships", done)
first = last(requests[0]) if requests else ""
check("code generator wrote this module" in first and "//! kernelwright 1" in first, "the model sees the built-in's best")
check({row["proposer"] for row in (json.loads(jobs.read(folder, f"candidates/{name}/lineage.json")) for name in jobs.added(folder))}
      >= {"builtin", "llm"}, "both are in the run")

# A recording replays without a network and without a key, byte for byte.
tape = jobs.path("tape.jsonl")
steps = [{"text": fenced(BROKEN)}, {"text": fenced(RIGHT)}]
words = ["--proposer", "llm", "--retries", "performance=0", "--retries", "polish=0", "--seed", "7"]
done, _, folder, _ = jobs.talk(steps, *words, "--record", tape)
check(done.returncode == 0, "recorded", done)
again = jobs.synthesize(jobs.reference, *words, "--replay", tape, env={"KERNELWRIGHT_PROVIDERS": jobs.path("providers.toml")})
check(again.returncode == 0, "replayed", again)
check(jobs.read(jobs.newest(), "final/kernel.cu") == jobs.read(folder, "final/kernel.cu"), "to the same kernel")
check(KEY not in jobs.read(jobs.folder, "tape.jsonl"), "no key on the tape")
other = jobs.synthesize(jobs.reference, "--prompt", "deterministic", *words, "--replay", tape,
                        env={"KERNELWRIGHT_PROVIDERS": jobs.path("providers.toml")})
check(other.returncode != 0 and "the request is not the one recorded" in other.stdout + other.stderr, "another request is not on it", other)

jobs.finish()
