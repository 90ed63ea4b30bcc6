"""A provider that rejects every request: an error with the provider's words and the right exit code in every command, in every format.
Every third answer, or all of them with KW_LONG=1.

    rejected.py KERNELWRIGHT
"""
import json
import os
import re
import sys

from common import KEY, RIGHT, ModelServer, Talks

jobs = Talks(sys.argv[1])
check = jobs.check
MODELS = {"anthropic": "anthropic:claude-sonnet-4-6", "openai-chat": "openai:gpt-5.2", "openai-responses": "openai-responses:gpt-5.2",
          "gemini": "gemini:gemini-2.5-pro"}
SHORT = ["--retries", "performance=0", "--retries", "polish=0", "--candidates", "1", "--goal", "1000"]
#         what is answered, the exit code, what must be said
ANSWERS = {
    "400": ({"status": 400, "message": "max_tokens: too odd"}, 3, "max_tokens: too odd"),
    "400, HTML": ({"fault": "html", "status": 400}, 3, "HTTP 400 with HTML"),
    "400, no body": ({"fault": "raw", "status": 400}, 3, "HTTP 400 with nothing"),
    "400, half a body": ({"fault": "raw", "status": 400, "body": '{"error": {"mess'}, 3, "HTTP 400 with text"),
    "401": ({"status": 401, "message": "who is it"}, 2, "who is it"),
    "403": ({"status": 403, "message": "not for you"}, 2, "not for you"),
    "404": ({"status": 404, "message": "no such model"}, 2, "no such model"),
    "409": ({"status": 409, "message": "a conflict"}, 3, "a conflict"),
    "413": ({"status": 413, "message": "32 MB at most"}, 2, "32 MB at most"),
    "422": ({"status": 422, "message": "unknown field"}, 3, "unknown field"),
    "200, no body": ({"fault": "raw"}, 3, "instead of JSON"),
    "200, half a body": ({"fault": "invalid_json"}, 3, "instead of JSON"),
}
AGAIN = {  # those that are asked again and then fail
    "429": ({"status": 429, "message": "slow down", "headers": {"retry-after": "0"}}, 3, "slow down"),
    "500": ({"status": 500, "message": "it is broken", "headers": {"retry-after": "0"}}, 3, "it is broken"),
    "503, HTML": ({"fault": "html", "status": 503, "headers": {"retry-after": "0"}}, 3, "HTTP 503"),
}


def judged(what, done, code, words):
    """The exit code and the words, and no trace of a bug of ours."""
    shown = done.stdout + done.stderr
    check(done.returncode == code and re.search(re.escape(words), shown) is not None, f"{what}: exit {code} and '{words}'", done)
    check("bug" not in shown.lower() and KEY not in shown, f"{what}: no bug, no key", done)


def always(step):
    return lambda conversation, state: step


STEP = 1 if os.environ.get("KW_LONG") == "1" else 3


def synthesize():
    for name, (step, code, words) in list({**ANSWERS, **AGAIN}.items())[::STEP]:
        done, requests, folder, _ = jobs.talk(None, "--proposer", "llm", *SHORT, respond=always(step))
        judged("synthesize, " + name, done, code, words)
        check(jobs.report(folder)["failed_stage"] == "codegen" and requests, f"{name}: the report says where", done)
    for wire, model in MODELS.items():
        done, _, folder, _ = jobs.talk(None, "--proposer", "llm", "--model-id", model, *SHORT, respond=always(ANSWERS["400"][0]))
        judged("synthesize over " + wire, done, 3, "max_tokens: too odd")
        report = jobs.report(folder)
        check(report["models"]["ledger"]["calls"], f"{wire}: the call is in the ledger")
    done, _, folder, _ = jobs.talk(None, "--proposer", "hybrid", *SHORT, respond=always(ANSWERS["400"][0]))
    check(done.returncode == 0 and "max_tokens: too odd" in str(jobs.report(folder)["report"]["warnings"]), "hybrid ships", done)


def others():
    """Commands beside synthesize, with one answer of each kind."""
    kernel = jobs.write("scale.cu", RIGHT.replace("tune    THREADS in 256, 128", "tune    THREADS in 256"))
    place = ["--device", "vgpu", "--target", "sm_90", "--cross-check", "never", "--compiler", jobs.compiler()]
    suite = os.path.join(jobs.folder, "suite")
    os.makedirs(suite, exist_ok=True)
    with open(os.path.join(suite, "scale.py"), "w", encoding="utf-8") as file:
        file.write("import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return x * 2 + 1\n"
                   "\n\ndef get_inputs():\n    return [torch.randn(1000)]\n\n\ndef get_init_inputs():\n    return []\n")
    for name in ("400", "400, HTML", "422", "401")[::STEP]:
        step, code, words = ANSWERS[name]
        with ModelServer(respond=always(step), key=KEY) as server:
            env = jobs.serve(server)
            done = jobs.run("evolve", jobs.reference, *place, "--versus", "none", "--dim", "N=100003", "--proposer", "llm", "--ensemble",
                            "anthropic:claude-sonnet-4-6", "--out", jobs.path("evolve" + name.replace(", ", "")), "--json", env=env)
            judged("evolve, " + name, done, code, words)
            done = jobs.run("optimize", kernel, "--reference", jobs.reference, *place, "--dim", "N=100000", "--proposer", "llm",
                            "--iterations", "1", "--branches", "2", "--out", jobs.path("optimize" + name.replace(", ", "")), env=env)
            judged("optimize, " + name, done, code, words)
            out = jobs.path("eval" + name.replace(", ", ""))
            done = jobs.run("eval", "--suite", suite, "--device", "vgpu", "--target", "sm_90", "--cross-check", "never", "--compiler", jobs.compiler(),
                            "--proposer", "llm", "--model-id", "anthropic:claude-sonnet-4-6", "--candidates", "1", "--out", out, env=env)
            check(done.returncode != 70 and "bug" not in (done.stdout + done.stderr).lower(), f"eval, {name}: no bug of ours", done)
            with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
                summary = json.dumps(json.load(file))
            with open(os.path.join(out, "results.csv"), encoding="utf-8") as file:
                check(words in file.read() + summary, f"eval, {name}: the row has the provider's words", done)


synthesize()
others()
jobs.finish()
