"""synthesize on the virtual GPU: kernels that verify, a report with every field, replay by seed, prompts, targets. KW_LONG=1 tries more
candidates for each of all references, and nothing else."""
import json
import os
import subprocess
import sys

from common import Jobs, RMS_NORM, passed

h = Jobs(sys.argv[1])

REFERENCES = {
    "bias_gelu": """import torch


def bias_gelu(x: "fp16[B, D]", bias: "fp16[D]"):
    return torch.nn.functional.gelu((x + bias).float(), approximate="tanh").to(x.dtype)
""",
    "softmax": """import torch


def softmax(x: "bf16[B, D]"):
    return torch.softmax(x.float(), dim=-1).to(x.dtype)
""",
    "statistics": """import torch


def statistics(x: "fp32[B, D]"):
    mean = x.mean(dim=-1)
    return mean, (x - mean[:, None]).pow(2).mean(dim=-1)
""",
    "running_sum": """import torch


def running_sum(x: "fp32[B, D]"):
    return torch.cumsum(x, dim=-1)
""",
    "product": """import torch


def product(a: "fp32[M, K]", b: "fp32[K, N]"):
    return a @ b
""",
    "transposed": """import torch


def transposed(x: "fp16[B, S, D]"):
    return x.transpose(1, 2).contiguous() * 2
""",
}

SMALL = ["--dim", "B=64", "--dim", "D=128"]  # the shape to be fast at; others are judged, too
TOP = ["passed", "run_id", "artifacts_dir", "failed_stage", "failure_reason", "report", "correctness", "performance"]
REPORT = ["run_id", "spec_name", "stages_executed", "stage_traces", "total_llm_tokens_in", "total_llm_tokens_out",
          "total_cost_usd", "wall_time_seconds", "warnings"]
TRACE = ["stage_name", "attempts", "succeeded", "model_used", "tokens_in", "tokens_out", "cache_read_tokens",
         "latency_seconds"]
CORRECTNESS = ["passed", "max_abs_err", "max_rel_err", "shapes_tested", "shape_results", "failing_inputs"]
PERFORMANCE = ["speedup_vs_reference", "speedup_vs_torch_compile", "achieved_tflops", "achieved_gbps", "occupancy",
               "regs_per_thread", "spill_bytes", "below_target", "notes", "warnings"]


def has_all(name, document, fields):
    missing = [field for field in fields if field not in document]
    h.check(not missing, "%s has every field; missing: %s" % (name, missing))


def rms_norm():
    done = h.synthesize(RMS_NORM)
    h.check(done.returncode == 0, "rms_norm is synthesized", done)
    folder = h.newest()
    kernel = os.path.join(folder, "final", "kernel.cu")
    h.check(passed("rms_norm", done.stdout), "the summary begins as the verdict", done)
    for words in (kernel, "estimated for an H200", "certified", "kernelwright tune"):
        h.check(words in done.stdout, "the summary says '%s'" % words, done)
    h.check("tried" in done.stderr and "\r" not in done.stderr, "progress as plain lines where there is no terminal", done)
    for name in ("kernel.cu", "kernel.ptx", "README.md"):
        h.check(os.path.getsize(os.path.join(folder, "final", name)) > 100, "final/%s is there" % name)
    for name in ("prompt.txt", "reference.py", "spec.json", "config.json", "env.json"):
        h.check(os.path.exists(os.path.join(folder, "inputs", name)), "inputs/%s is there" % name)
    report = h.report(folder)
    has_all("report.json", report, TOP)
    has_all("report", report["report"], REPORT)
    has_all("correctness", report["correctness"], CORRECTNESS)
    has_all("performance", report["performance"], PERFORMANCE)
    for trace in report["report"]["stage_traces"]:
        has_all("stage trace", trace, TRACE)
    h.check(report["passed"] and report["failed_stage"] is None and report["artifacts_dir"] == folder, "it passed")
    h.check(report["report"]["spec_name"] == "rms_norm" and report["report"]["total_cost_usd"] == 0, "no model was paid")
    correctness = report["correctness"]
    h.check(correctness["certified"] is correctness["complete"] and ("not certified" in done.stdout) is not correctness["certified"] and
            done.stdout.startswith("PASSED " + (correctness["below"] or "rms_norm")), "the summary says what the verdict says: %s" % correctness, done)
    h.check(len(report["correctness"]["shapes_tested"]) > 5 and report["correctness"]["failing_inputs"] == [],
            "many shapes were tested")
    h.check(0 < report["correctness"]["max_rel_err"] < 1e-2, "the error is told")
    performance = report["performance"]
    for name in ("speedup_vs_reference", "speedup_vs_torch_compile", "achieved_gbps", "below_target", "time_us"):
        h.check(performance[name] is None, "%s cannot be known without a GPU" % name)
    h.check(performance["estimate_us"] > 0 and not report["measured"], "an estimate, called one")
    candidates = report["search"]["candidates"]
    h.check(len(candidates) == report["search"]["tried"] > 3, "every candidate is listed")
    h.check(sum(1 for one in candidates if one["certified"]) == 1, "one of them is certified")
    again = h.run("verify", kernel, "--reference", os.path.join(folder, "inputs", "reference.py"), *h.words,
                  "--device", "vgpu")
    h.check(again.returncode == 0, "what was shipped passes again on its own", again)
    alone = h.run("check", kernel, "--compiler", h.words[-1], "--json")
    tunes = json.loads(alone.stdout)["variants"][0]["tunes"]
    h.check(tunes == report["tunes"], "the chosen values are the module's defaults", alone)


def references(names, candidates):
    for name in names:
        path = h.write(name + ".py", REFERENCES[name])
        done = h.synthesize(path, "--candidates", candidates)
        h.check(done.returncode == 0 and passed(name, done.stdout), "%s is synthesized" % name, done)


def replay():
    orders = []
    for seed in ("3", "3", "4"):
        done = h.synthesize(RMS_NORM, "--seed", seed, "--candidates", "6", *SMALL, "--json")  # the first four are always the same
        h.check(done.returncode == 0, "a seeded run passes", done)
        report = json.loads(done.stdout)
        h.check(report["correctness"]["certified"] is False, "a replayed run is not certified")
        folder = report["artifacts_dir"]
        orders.append((h.added(folder), [one["id"] for one in report["search"]["candidates"]], report["tunes"]))
    h.check(orders[0] == orders[1], "the same seed replays the same search")
    h.check(orders[0][0] != orders[2][0], "another seed takes another way")


def prompt_and_target():
    done = h.synthesize(RMS_NORM + ":rms_norm", "--prompt", "fp16 rmsnorm over the last dim for an A100, made of cheese",
                        "--candidates", "1", *SMALL, "--json")
    report = json.loads(done.stdout)
    h.check(done.returncode == 0, "a prompt beside a reference", done)
    kinds = {phrase["kind"]: phrase for phrase in report["prompt"]["understood"]}
    h.check(kinds["arch"]["value"] == "sm_80" and kinds["dtype"]["effect"] == "agrees with the reference",
            "the prompt is understood: %s" % kinds)
    h.check(report["prompt"]["unused"] == ["made", "cheese"], "what is not understood is told: %s" % report["prompt"])
    with open(os.path.join(report["artifacts_dir"], "final", "kernel.ptx")) as file:
        h.check(".target sm_80" in file.read(), "compiled for the GPU the prompt names")
    plain = h.write("scale.py", "def scale(x, weight):\n    return x * weight\n")
    done = h.synthesize(plain, "--prompt", "bf16", "--candidates", "1")
    h.check(done.returncode == 0 and passed("scale", done.stdout), "a prompt's dtype describes bare inputs", done)
    done = h.synthesize(RMS_NORM, "--prompt", "fp32", "--candidates", "1", "--seed", "3", *SMALL)
    h.check("the reference is followed" in done.stdout, "a prompt that contradicts is warned about", done)
    done = h.synthesize(RMS_NORM, *SMALL, "--candidates", "1", "--seed", "3")
    h.check(done.returncode == 0 and "B=64 D=128" in done.stdout, "fast at the shape asked for", done)


def terminal():
    import pty
    master, slave = pty.openpty()
    process = subprocess.Popen([h.binary, "synthesize", "--reference", RMS_NORM, *h.words, "--candidates", "2", "--seed", "3", *SMALL],
                               env=dict(h.environment, TERM="xterm"), cwd=h.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    out = process.communicate()[0]
    h.check(process.returncode == 0 and b"PASSED" in out, "a run beside a terminal")
    h.check(shown.count(b"\r\x1b[K") > 3 and b"\n" not in shown.strip(), "one line is rewritten: %r" % shown[-200:])


if os.environ.get("KW_LONG") == "1":
    references(REFERENCES, "4")
    h.finish()
rms_norm()
terminal()
references(["bias_gelu", "running_sum"], "1")
replay()
prompt_and_target()
h.finish()
