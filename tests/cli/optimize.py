"""optimize from outside, with no GPU: an agent's whole run, everything an agent can do wrong, the automatic run."""
import glob
import json
import os
import re
import shutil
import sys

from harness import Harness

h = Harness(sys.argv[1])
compiler = h.compiler()
NO_GPU = {"KERNELWRIGHT_LIBCUDA": "/nowhere/libcuda.so.1"}
h.environment.update(NO_GPU)

REFERENCE = h.write("twice.py", 'import torch\n\n\ndef twice(x: "fp32[B, D]"):\n    return 2 * x + 1\n')
HEAD = """//! kernelwright 1
//! task   twice
//! input  x: fp32[B, D]
//! output y: fp32[B, D]
"""
PLAIN = HEAD + """//! launch twice grid(ceil_div(B * D, 2048)) block(64) args(x, y, B * D)
__global__ void twice(const float* x, float* y, long long n) {
  long long first = (blockIdx.x * 64ll + threadIdx.x) * 32;  // neighbours are far apart
  for (long long i = first; i < first + 32 && i < n; ++i) y[i] = 2 * x[i] + 1;
}
"""
WIDE = HEAD + """//! tune   VEC in 4, 1
//! method memory.vectorized_access when VEC > 1, off VEC=1
//! when   B * D % VEC == 0
//! launch twice<VEC> grid(ceil_div(B * D, 256 * VEC)) block(256) args(x, y, B * D)
//! when   true
//! launch twice<1> grid(ceil_div(B * D, 256)) block(256) args(x, y, B * D)
struct alignas(16) Four { float v[4]; };
template <int N>
__global__ void twice(const float* x, float* y, long long n) {
  long long i = (blockIdx.x * 256ll + threadIdx.x) * N;
  if (i >= n) return;
  if (N == 4) {
    Four a = *(const Four*)(x + i), b;
    for (int k = 0; k < 4; ++k) b.v[k] = 2 * a.v[k] + 1;
    *(Four*)(y + i) = b;
  } else {
    y[i] = 2 * x[i] + 1;
  }
}
"""
WRONG = PLAIN.replace("+ 1;\n", "+ 2;\n")
BROKEN = PLAIN.replace("2 * x[i]", "2 * z[i]")
KERNEL = h.write("plain.cu", PLAIN)
TASK = ["--ref", REFERENCE, "--dims", '{"B": 512, "D": 512}', "--compiler", compiler, "--cross-check", "never", "--device", "vgpu"]


def optimize(*words, code=0):
    done = h.run("optimize", *words, "--json")
    h.check(done.returncode == code, "optimize %s: expected exit %d" % (" ".join(words), code), done)
    return json.loads(done.stdout)


def refused(words, code, pattern):
    h.expect("optimize " + " ".join(words), ["optimize", *words], code, pattern)


def write(run, name, text):
    path = os.path.join(run, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))


def read(run, name):
    with open(os.path.join(run, name)) as file:
        return json.load(file)


def new_run(*more):
    return optimize("setup", "--baseline", KERNEL, *TASK, *more)["run_dir"]


def agent():
    begun = optimize("setup", "--baseline", KERNEL, *TASK, "--ncu-num", "5", "--branches", "2", "--iterations", "2", "--noise-threshold-pct", "3")
    run = begun["run_dir"]
    h.check(re.fullmatch(re.escape(h.folder) + r"/run_\d{8}_\d{6}(_\d+)?", run) is not None, "the folder is beside the kernel: " + run)
    h.check(begun["early_stop"] is False and begun["measured"] is False, "no clock, not near the peak")
    h.check(begun["noise_threshold_pct"] == 3, "the threshold that was asked for")
    at = ["--run-dir", run]
    h.check("open-iter --run-dir" in begun["next_step"], "setup says what comes next")

    opened = optimize("open-iter", *at, "--iter", "1")
    h.check(opened["plan"]["standings"] and opened["roofline"]["estimated"], "the plan is there, from estimates")
    for name in ("roofline.json", "ncu_top.json", "plan.json", "analysis.md", "branches/b1", "branches/b2"):
        h.check(os.path.exists(os.path.join(run, "iterv1", name)), "open-iter makes " + name)

    # Everything an agent can do wrong in between.
    refused(["open-iter", *at], 2, "iteration 1 is open.*Next: write")
    refused(["finalize", *at], 2, "--force gives it up")
    refused(["ablate", *at], 2, "ablate cannot be done now")
    refused(["close-iter", *at, "--iter", "2"], 2, "iteration 1 is open .opened., not 2")
    refused(["close-iter", *at], 2, "methods.json: write it")
    write(run, "iterv1/methods.json", {"iter": 1, "methods": [{"id": "memory.vectorised_access"}]})
    write(run, "iterv1/branches/b1/kernel.cu", WIDE)
    done = h.run("optimize", "close-iter", *at)
    h.check(done.returncode == 1 and "did you mean 'memory.vectorized_access'" in done.stdout and "nothing was compiled" in done.stdout,
            "unknown methods are refused", done)
    write(run, "iterv1/methods.json", {"iter": 1, "methods": [{"id": "memory.vectorized_access"}, {"id": "compute.tensor_core"}]})
    checked = optimize("validate-methods", *at, code=1)
    h.check(any("compute.tensor_core" in line and "skip_condition" in line for line in checked["refusals"]), "what is ruled out is refused")
    h.check(any("memory.coalesced_access" in line for line in checked["refusals"]), "what comes before must be mentioned")

    # As the plan explains them, the higher ones may be left out.
    standing = {row["id"]: row for row in opened["plan"]["standings"]}
    own = standing["memory.vectorized_access"]
    skipped = [{"id": row["id"], "reason": "cannot_apply", "why": "it is not what this kernel needs"} for row in standing.values()
               if row["axis"] == "memory" and row["priority"] < own["priority"]]
    write(run, "iterv1/methods.json", {"iter": 1, "methods": [{"id": "memory.vectorized_access", "axis": "memory", "priority": own["priority"],
                                                              "name": "wide", "description": "four at once", "skipped_higher": skipped}]})
    may = optimize("validate-methods", *at, code=0 if opened["roofline"]["axis_budget"]["memory"] > 0 else 1)
    skip = [] if may["ok"] else ["--skip-validation"]

    # No branch passes: what failed is said, and nothing is lost.
    shutil.rmtree(os.path.join(run, "iterv1/branches"))
    refused(["close-iter", *at, *skip], 2, "holds no kernel: write b1/kernel.cu")
    write(run, "iterv1/branches/b0/kernel.cu", WRONG)
    write(run, "iterv1/branches/b1/kernel.cu", BROKEN)
    failed = optimize("close-iter", *at, *skip, code=1)
    h.check(failed["status"] == "all_branches_failed" and failed["retries_left"] == 3, "all failed, three retries left")
    verdicts = {row["branch"]: row["verdict"] for row in failed["branches"]}
    h.check(verdicts == {"b0": "wrong", "b1": "rejected"}, "wrong and not compiling are told apart: %s" % verdicts)
    h.check("'z'" in failed["branches"][1]["error"] or '"z"' in failed["branches"][1]["error"] or "z" in failed["branches"][1]["error"],
            "the compiler's words are there")

    # Step by step, each in a process of its own.
    write(run, "iterv1/branches/b1/kernel.cu", WIDE)
    raced = optimize("branch", *at, *skip)
    h.check(raced["champion"]["branch_index"] == 1 and raced["valid_branches"] == 1, "the one that passes is the champion")
    ablated = optimize("ablate", *at)
    row = ablated["attributions"][0]
    h.check(row["source"] == "switch" and row["kind"] == "estimated" and row["contributed"] is None, "ablated by its switch, by estimate")
    h.check(os.path.exists(os.path.join(run, "iterv1/ablations/no_memory.vectorized_access/kernel.cu")), "the ablated kernel is kept")
    optimize("sass", *at)
    closed = optimize("close-iter", *at)
    h.check(closed["adopted"] is True, "the better estimate is adopted")
    h.check([row["class"] for row in closed["methods"]] == ["unverified"], "estimates make no method effective")
    refused(["close-iter", *at], 2, "iteration 1 is closed.*Next: kernelwright optimize open-iter")
    refused(["open-iter", *at, "--iter", "3"], 2, "iteration 2 comes before 3")

    optimize("open-iter", *at)
    write(run, "iterv2/methods.json", {"iter": 2, "methods": []})
    write(run, "iterv2/branches/b1/kernel.cu", WIDE.replace("256", "128"))
    optimize("close-iter", *at)
    refused(["open-iter", *at], 2, "all 2 iterations are done.*finalize")
    final = optimize("finalize", *at)
    h.check(final["speedup"] is not None and final["effective_methods"] == [], "a speedup, and nothing said to be effective")
    summary = open(os.path.join(run, "summary.md")).read()
    for heading in ("Headline", "Environment", "Timeline", "How the bottleneck moved", "Methods", "Frontier", "Retrospective"):
        h.check("## " + heading in summary, "summary has " + heading)
    h.check("**estimated**" in summary, "estimates are labelled")
    refused(["open-iter", *at, "--force"], 2, "the run is finalized")
    state = optimize("state", *at)
    h.check(state["phase"] == "finalized" and len(state["history"]) == 2 and len(state["roofline_history"]) == 3, "the state tells it all")
    h.check(optimize("summary", *at)["summary"] == summary, "summary says the same")


def tampering():
    run = new_run()
    at = ["--run-dir", run]
    path = os.path.join(run, "state.json")
    good = open(path).read()
    write(run, "state.json", good.replace('"iterations_total": 3', '"iterations_total": 30'))
    refused(["open-iter", *at], 2, "changed by hand.*--restore")
    optimize("state", *at, "--restore")
    h.check(open(path).read() == good, "restored as it was")
    write(run, "state.json", good.replace('"schema_version": 1', '"schema_version": 99'))
    refused(["state", *at], 2, "of version 99 and this kernelwright writes version 1")
    write(run, "state.json", good[:100])
    refused(["summary", *at], 2, "damaged.*--restore")
    write(run, "state.json", good)
    moved = run + "_moved"
    os.rename(run, moved)
    optimize("open-iter", "--run-dir", moved)
    reference = open(REFERENCE).read()
    write(moved, "iterv1/methods.json", {"iter": 1, "methods": []})
    write(moved, "iterv1/branches/b1/kernel.cu", WIDE)
    h.write("twice.py", reference.replace("+ 1", "+ 3"))
    refused(["close-iter", "--run-dir", moved], 2, "was changed after setup")
    h.write("twice.py", reference)
    optimize("close-iter", "--run-dir", moved)


def bad_input():
    before = sorted(glob.glob(h.path("run_*")))
    wrong, broken, other = h.write("wrong.cu", WRONG), h.write("broken.cu", BROKEN), h.write("text.cu", "just words\n")
    none = h.write("none.py", "import torch\n\nx = 3\n")
    rows = [
        (["setup", "--baseline", wrong, *TASK], 1, "does not pass .wrong"),
        (["setup", "--baseline", broken, *TASK], 1, "does not pass .rejected"),
        (["setup", "--baseline", other, *TASK], 2, "text.cu"),
        (["setup", "--baseline", "nowhere.cu", *TASK], 2, "nowhere.cu"),
        (["setup", *TASK], 2, "missing kernel"),
        (["setup", KERNEL, "--baseline", KERNEL, *TASK], 2, "given twice"),
        (["setup", KERNEL], 2, "missing required option --reference"),
        (["setup", KERNEL, "--ref", "nowhere.py"], 2, "no reference nowhere.py"),
        (["setup", KERNEL, "--ref", none], 2, "none.py"),
        (["setup", KERNEL, "--ref", REFERENCE, "--reference", REFERENCE], 2, "the same"),
        (["setup", KERNEL, "--ref", REFERENCE, "--dims", '{"Q": 3}', "--device", "vgpu"], 2, "Q"),
        (["setup", KERNEL, "--ref", REFERENCE, "--dims", "{"], 2, "--dims"),
        (["setup", KERNEL, *TASK, "--noise", "loud"], 2, "neither 'auto' nor a number"),
        (["setup", KERNEL, *TASK, "--branches", "0"], 2, "--branches"),
        ([KERNEL, *TASK, "--proposer", "nobody"], 2, "--proposer"),
        ([KERNEL, KERNEL, *TASK], 2, "was not expected"),
        (["open-itr", "--run-dir", h.folder], 2, "did you mean 'open-iter'"),
        (["open-iter"], 2, "--run-dir"),
        (["open-iter", "--run-dir", "nowhere"], 2, "no run folder"),
        (["state", "--run-dir", h.folder], 2, "no state.json"),
        (["preflight", "--baseline", wrong, *TASK], 1, "does not pass"),
    ]
    for words, code, pattern in rows:
        done = h.run("optimize", *words)
        h.check(done.returncode == code, "optimize %s: expected exit %d" % (" ".join(words), code), done)
        h.check(re.search(pattern, done.stdout + done.stderr, re.S) is not None, "optimize %s: expected /%s/" % (" ".join(words), pattern), done)
    h.check(sorted(glob.glob(h.path("run_*"))) == before, "nothing is left behind")
    ready = optimize("preflight", "--baseline", KERNEL, *TASK)
    h.check(ready["errors"] == [] and len(ready["warnings"]) == 1, "a good one passes, with a word about the clock")


def automatic():
    out = h.path("runs")
    done = optimize(KERNEL, *TASK, "--iterations", "2", "--branches", "2", "--out", out)
    h.check(done["run_dir"].startswith(out) and done["stopped"], "an automatic run ends and says why")
    h.check(done["effective_methods"] == [] and os.path.exists(done["summary"]), "nothing is effective by estimate")
    state = read(done["run_dir"], "state.json")
    h.check(all(not row.get("overridden") for row in state["history"]), "the built-in author passes the gate")
    again = optimize("--run-dir", done["run_dir"])
    h.check(again["phase"] == "finalized", "a finished run only says so")
    waiting = optimize(KERNEL, *TASK, "--proposer", "agent", "--out", out)
    h.check("open-iter" in waiting["next_step"], "an agent is told what to do next")
    refused(["--run-dir", waiting["run_dir"]], 2, "an agent runs this optimisation")


agent()
tampering()
bad_input()
automatic()
h.finish()
