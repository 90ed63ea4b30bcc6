"""What the tests of the engineer share: one synthesize with a persona, and what holds for every one of them."""
import importlib.util
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "llm"))
spec = importlib.util.spec_from_file_location("stages_common", os.path.join(os.path.dirname(HERE), "stages", "common.py"))
sys.path.insert(0, os.path.dirname(spec.origin))
stages_common = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stages_common)

from engineer import SOURCE  # noqa: E402

NO_GPU = stages_common.synthesize_common.NO_GPU
KEY, ModelServer, SONNET = stages_common.KEY, stages_common.ModelServer, stages_common.SONNET
WIRES = {"anthropic": SONNET, "openai-chat": "openai:gpt-5.2", "openai-responses": "openai-responses:gpt-5.2",
         "gemini": "gemini:gemini-2.5-pro"}
REFERENCE = '''import torch


def blend(x: "fp32[N]", y: "fp32[N]"):
    return x * 0.75 + y
'''
SIZE = 20011
TREE = ["stage1_interview/kernel_spec.json", "stage2_codegen/attempt_01/prompt_to_llm.md", "stage2_codegen/final/kernel.cu",
        "stage3_correctness/report.json", "stage3_correctness/result.json", "stage4_performance/report.json", "stage5_polish/status.json",
        "stage5_polish/final/kernel.cu", "final/kernel.cu", "report.json"]
TRACE = {"stage_name", "attempts", "succeeded", "model_used", "tokens_in", "tokens_out", "cache_read_tokens", "latency_seconds",
         "provider", "degraded", "wall_seconds"}


class Work:
    """What came of one synthesize."""

    def __init__(self, desk, done, requests, folder):
        self.desk, self.done, self.requests, self.folder = desk, done, requests, folder
        self.report = desk.report(folder)
        self.models = self.report.get("models", {})
        self.attempts = self.models.get("attempts", [])
        self.kernel = desk.read(folder, "final/kernel.cu")
        self.warnings = "\n".join(self.report["report"]["warnings"])
        self.traces = {row["stage_name"]: row for row in self.report["report"]["stage_traces"]}
        self.refused = {row["id"]: row["refused"] for row in self.report["search"]["candidates"]}

    def outcomes(self, stage):
        return [row["outcome"] for row in self.attempts if row["stage"] == stage]

    def told(self, index):
        return self.requests[index]["conversation"]["messages"][-1]["text"]


class Desk(stages_common.Talks):
    def __init__(self, binary, size=SIZE):
        super().__init__(binary)
        self.reference = self.write("blend.py", REFERENCE)
        self.words[self.words.index("N=100003")] = f"N={size}"
        self.words += ["--goal", "1000", "--candidates", "1"]
        if size == SIZE:
            self.words += ["--device", "vgpu", "--target", "sm_90"]
            return
        for name in NO_GPU:
            del self.environment[name]
        if self.run("doctor", "--has", "gpu").returncode != 0:
            stages_common.skip("no GPU")
        self.words += ["--device", "gpu"]

    name = ""

    def check(self, condition, what, done=None):
        super().check(condition, f"{self.name}: {what}", done)

    def work(self, name, engineer, *words, proposer="llm", model=SONNET, reference=None, whole=True, every=200):
        """One run with this engineer, with the checks that every run must pass."""
        self.name = name
        blend, self.reference = self.reference, reference or self.reference
        done, requests, folder, _ = self.talk(None, "--proposer", proposer, "--model-id", model, *words, respond=engineer)
        self.reference = blend
        work = Work(self, done, requests, folder)
        self.check(all(row["status"] == every for row in requests), "the server takes every request: %s"
                   % [row["problem"] for row in requests], done)
        self.no_secrets(work)
        self.prefixes(work)
        self.repairs(work)
        self.account(work)
        self.shape(work, whole)
        return work

    def no_secrets(self, work):
        self.check(not self.has_text(work.folder, KEY), "no key in the run: %s" % self.has_text(work.folder, KEY))
        self.check(KEY not in work.done.stdout + work.done.stderr, "no key on the terminal", work.done)
        self.check(KEY not in json.dumps(work.requests), "no key in an address or a body")
        self.check(self.folder not in json.dumps(work.requests), "no path of this machine is sent")

    def prefixes(self, work):
        """What providers keep: the same rules, machine and task in every request, and turns that only grow."""
        talks = [row["conversation"] for row in work.requests if row["conversation"]["system"]]  # not the interview
        self.check(len({talk["system"] for talk in talks}) <= 1, "one system text in all requests")
        sent = [json.dumps(row["body"]["system"]) for row in work.requests if row["wire"] == "anthropic" and row["body"].get("system")]
        self.check(len(set(sent)) <= 1 and all("cache_control" in one for one in sent), "byte for byte, and marked to be kept")
        tools = [json.dumps(talk["tools"]) for talk in talks if talk["tools"]]
        self.check(len(set(tools)) <= 1, "the same tools whenever there are any")
        if "left out to save room" in json.dumps(talks):
            return
        for before, after in zip(talks, talks[1:]):
            new = len(after["messages"]) == 1
            self.check(new or after["messages"][:len(before["messages"])] == before["messages"], "turns are kept as they were")

    def repairs(self, work):
        """Every request for a repair holds the module's source and exactly what the judge said of it."""
        for row in work.requests:
            text = row["conversation"]["messages"][-1]["text"]
            if not re.search("Your module was refused|it is not right|Your last module (is not right|does not compile)", text):
                continue
            shown = SOURCE.findall(text)
            self.check(shown, "a repair shows a source: " + text[:300])
            for name, _, source in shown[:1]:
                module = self.read(work.folder, f"candidates/{name}/module.cu")
                reason = work.refused.get(name)
                self.check(reason and reason in text, f"a repair says what is wrong with {name}: {reason}")
                self.check(bare(module) == bare(source), "the source is the one that was judged, line by line: " + source)

    def account(self, work):
        ledger, report = work.models.get("ledger"), work.report["report"]
        self.check(set(work.traces["reference"]) >= TRACE, "traces have their members: %s" % list(work.traces["reference"]))
        self.check(ledger and len(ledger["calls"]) == len(work.requests), "every request is in the ledger")
        for name, total in (("tokens_in", "total_llm_tokens_in"), ("tokens_out", "total_llm_tokens_out")):
            self.check(sum(row[name] for row in work.traces.values()) == report[total], f"the stages add up to {total}")
        self.check(report["total_cost_usd"] > 0, "the cost is known: %s" % report["total_cost_usd"])
        self.check(sum(row["usd"] or 0 for row in ledger["calls"]) - report["total_cost_usd"] < 1e-9, "and is the sum of its calls")
        for stage in {row["stage"] for row in work.attempts}:
            trace = work.traces.get(stage)
            self.check(trace and trace["attempts"] == len(work.outcomes(stage)), f"{stage}: attempts are counted: {trace}")
            self.check(trace and trace["model_used"] != "none" and trace["tokens_in"] > 0, f"{stage}: the model is named: {trace}")

    def shape(self, work, whole):
        """A run that ships has the whole tree; one that fails has a report that says where and why, and no kernel."""
        report = work.report
        self.check((work.done.returncode == 0) == report["passed"] == bool(work.kernel), "exit code, report and kernel agree", work.done)
        if report["passed"]:
            for name in TREE if whole else []:
                self.check(self.read(work.folder, name), "the folder has " + name)
            self.check(report["failed_stage"] is None, "no stage failed")
            self.check(self.read(work.folder, "stage5_polish/final/kernel.cu") == work.kernel, "the view is the kernel")
        else:
            self.check(work.done.returncode == 1 and report["failed_stage"] and report["failure_reason"], "where and why it failed", work.done)
            self.check(report["performance"] is None or report["performance"].get("time_us") is None, "nothing was timed")

    def certain(self, work, reference=None):
        """A second opinion on what was shipped, from a process that knows nothing of the run."""
        path = os.path.join(work.folder, "final", "kernel.cu")
        done = self.run("verify", path, "--reference", reference or self.reference, "--device", "vgpu", "--compiler", self.compiler(),
                        "--dim", f"N={SIZE}", "--cross-check", "never")
        self.check(done.returncode == 0, "what was shipped is right", done)


def bare(module):
    """A module's lines without comments, blanks at their ends, and blank lines at its end."""
    lines = [line if line.startswith("//!") else re.sub(r"//.*", "", line) for line in module.split("\n")]
    return "\n".join(line.rstrip() for line in lines).rstrip()
