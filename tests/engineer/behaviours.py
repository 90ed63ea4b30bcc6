"""What people who come from another generator rely on, in 25 groups: each is asserted here, or by a test that is named here and must
exist under that name.

    behaviours.py KERNELWRIGHT
"""
import json
import os
import re
import subprocess
import sys

from desk import HERE, SIZE, SONNET, Desk
from engineer import Careless, Cheat, Engineer, Tail, fenced

ROOT = os.path.dirname(os.path.dirname(HERE))
desk = Desk(sys.argv[1])
check = desk.check
SHORT = ["--retries", "performance=0", "--retries", "polish=0"]
WITHOUT_TORCH = {"KW_TORCH_PYTHON": "/nowhere/python"}  # which would be asked in vain, and for long

# Group -> file -> tests of GoogleTest as Suite.Name (* is all of them), or words that stand in a script.
COVERED = {
    1: {
        "src/search/stages/spec_test.cpp": ["PlanDefaults.AreOneThreeThreeThreeOne"],
        "src/judge/shapes/shapes_test.cpp": ["Shapes.AreTheTasksOwnAndAwkwardOnes"],
    },
    2: {
        "src/search/stages/spec_test.cpp": ["KernelSpec.IsFrozen", "KernelSpec.ComesBackFromItsJson", "ReadSpec.NormalisesOrRefuses"],
    },
    3: {
        "src/search/stages/spec_test.cpp": ["ReadInterview.TakesFencedAndBareJson", "ReadSpec.NormalisesOrRefuses"],
        "src/search/stages/stages_test.cpp": ["StagesTest.InterviewRefusesProse"],
    },
    5: {
        "src/search/stages/stages_test.cpp": [
            "StagesTest.SendsCompileErrorAndSourceBack",
            "StagesTest.StopsWhenTheBudgetsAreSpent",
            "StagesTest.WhatToolsSawCountsWhenTheAnswerIsWords",
        ],
    },
    6: {
        "src/search/stages/stages_test.cpp": ["StagesTest.EscalatesWithTheWholeHistory", "StagesTest.NobodyIsEscalatedToUnasked"],
        "tests/stages/trouble.py": ["both in the trace"],
    },
    7: {
        "src/judge/gate/gate_test.cpp": [
            "GateTest.EveryShapeHasItsSets",
            "GateTest.WrongNumbersCarryTheWorstElementAndALine",
            "Static.IsRejectedWithTheReason",
            "GateTest.ACertainFindingRejects",
        ],
    },
    8: {
        "src/judge/gate/pool_test.cpp": ["Pool.ASeedReplaysAndEntropyDoesNot"],
        "src/judge/inputs/families_test.cpp": [
            "Families.OffsetHasALargeMean",
            "Families.ProbeHasOneElementThatDwarfsTheRest",
            "Families.SpikesReachBeyondHalvesInEverySecondDraw",
        ],
    },
    9: {
        "src/search/stages/stages_test.cpp": ["StagesTest.HardGateWithoutRepairs"],
    },
    10: {
        "src/search/stages/stages_test.cpp": ["StagesTest.RepairsWhatIsWrong"],
        "tests/engineer/personas.py": ["stage3_repair/attempt_01/correctness_report.md"],
    },
    11: {
        "src/search/workflows/eval_test.cpp": ["EvalRow.TakesTheBestBaseline", "EvalRow.WithoutAClockNothingIsClaimed"],
        "src/judge/timing/bench_test.cpp": ["BenchTest.AReferenceTorchCannotCallCostsOnlyTheBaselines"],
    },
    12: {
        "src/search/stages/stages_test.cpp": [
            "StagesTest.PerformanceKeepsTheBestAndGatesEveryone",
            "StagesTest.PerformanceNeverGetsWorse",
            "StagesTest.PerformanceStopsAtTheGoal",
        ],
    },
    13: {
        "src/judge/timing/bench_test.cpp": ["BenchTest.WithoutAGpuThereIsAnEstimate"],
        "src/judge/gate/gate_test.cpp": ["GateTest.TheGpuSeesTheBenchmarkShapeItself"],
    },
    14: {
        "src/judge/timing/torch_baselines_test.cpp": ["FakeBaselines.AFailingModeKeepsItsOutcome", "FakeBaselines.WithoutCudaIsAnOutcome"],
        "src/judge/timing/bench_test.cpp": ["BenchTest.TorchModesAreTimedBesideTheCandidate"],
    },
    15: {
        "src/judge/timing/cost_model_test.cpp": [
            "CostModel.ACopyIsBoundByMemoryNearTheFloor",
            "CostModel.NothingIsQuickerThanALaunch",
            "CostModel.FewBlocksLeaveTheGpuIdle",
        ],
        "src/search/workflows/explaining_judge_test.cpp": ["BoundText.GivesAdviceForTheBound"],
    },
    16: {
        "src/run/vgpu/instruction_counts_test.cpp": ["*"],
        "src/judge/single_run/check_module_test.cpp": ["Doctor.KnowsWhetherAProfileReadCounters"],
        "tests/cli/doctor.py": ["ncu"],
    },
    17: {
        "src/run/compile/cache_test.cpp": ["Cache.RemembersAcrossObjects", "Cache.DamagedEntriesAreMadeAgain"],
        "src/run/compile/search_test.cpp": ["Search.NothingFoundIsOneClearError"],
        "src/run/compile/compiler_messages_test.cpp": ["ParseLog.KnowsEveryDialect"],
        "src/run/compile/program_compiler_test.cpp": ["Nvcc.IsStoppedInTime"],
        "src/base/os/process_test.cpp": ["Child.EndsAreTold", "Child.AnAbsurdFrameLengthIsRefused"],
    },
    18: {
        "src/judge/store/run_test.cpp": ["Run.KeepsEverythingItIsGiven"],
        "src/judge/store/index_test.cpp": ["RunId.SortsByTimeAndFitsInAFileName"],
    },
    19: {
        "src/search/stages/stages_test.cpp": ["StagesTest.PolishGivesAnAnnotatedModule", "StagesTest.PolishThatFailsSaysWhy"],
        "tests/engineer/misfits.py": ["is wrong where it is timed"],
    },
    20: {
        "src/apps/commands/synthesize_text_test.cpp": ["SynthesizeText.SaysWhatHowSureHowFastAndWhere", "SynthesizeText.AFailedSearchSaysWhy"],
        "src/judge/store/index_test.cpp": ["FindRun.ByPathIdBeginningAndLatest"],
    },
    21: {
        "src/read/task_formats/suite_test.cpp": ["SuiteFolder.FindsFoldersAndFilesInNaturalOrder", "SuiteFolder.SelectsByNameAndPattern"],
        "src/search/suites/row_test.cpp": ["TaskRow.TheFirstColumnsAreThoseOthersKnow", "TaskRow.ReadsTheTablesOfOthers"],
        "src/search/suites/totals_test.cpp": ["Totals.SpeedupsAreOrderedAndBracketed"],
        "src/search/workflows/eval_test.cpp": ["EvalFailure.IsToldApartByBlame"],
        "src/search/suites/runner_test.cpp": ["RunnerTest.RegressionsAgainstAnEarlierRun"],
    },
    22: {
        "src/search/llm/llm_test.cpp": ["ModelIds.AreProviderAndModel", "Config.KeysComeFromTheEnvironmentOnly"],
        "tests/stages/trouble.py": ["a key: hybrid"],
    },
    23: {
        "src/search/llm/wire_test.cpp": ["Bodies.AreGolden", "Streams.AreReadWhateverThePiecesAre"],
        "src/search/llm/llm_test.cpp": ["ToolCalls.KeepWhatCannotBeParsed"],
        "src/search/llm/decorators_test.cpp": ["Degrading.ChangesNothingWhereAllIsThere"],
        "tests/llm/providers_test.cpp": ["*"],
    },
    25: {
        "tests/verify/mutants_test.cpp": ["*"],
        "tests/verify/imposters_test.cpp": ["*"],
        "src/judge/timing/bench_test.cpp": ["BenchTest.WhatIsWrongIsNeverTimed"],
        "tests/engineer/misfits.py": ["wrong at the timed shape"],
        "tests/exploits/027-cache-by-pointer/expect.txt": ["cached"],
        "tests/exploits/036-side-stream/expect.txt": ["host"],
        "src/search/suites/runner_test.cpp": ["RunnerTest.ResumeKeepsWhatPassedAndTriesAgainWhatFailed"],
    },
}


def exists(path, name):
    """Whether a file has such a test."""
    path = os.path.join(ROOT, path)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not path.endswith(".cpp"):
        return name in text
    test = "" if name == "*" else re.escape(name).replace(r"\.", ", ") + r"\)"
    return re.search(rf"^TEST(_[FP])?\({test}", text, re.M) is not None


RUN = (8, 14, 16, 17, 25)  # groups that rest on tests of a module alone: those are run, where they are built


def run_tests(path, names):
    """The tests a group names, by the module's own test program beside ours."""
    module = re.match(r"src/\w+/(\w+)/", path)
    program = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "src", f"kw_{module.group(1)}_test") if module else ""
    if not path.endswith(".cpp") or not os.path.exists(program):
        return
    if "*" in names:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            names = {match.group(2) + ".*" for match in re.finditer(r"^TEST(_[FP])?\((\w+),", file.read(), re.M)}
    pattern = ":".join(f"*{name}" if name.endswith("*") else f"{name}:*/{name}/*:{name}/*" for name in names)
    done = subprocess.run([program, "--gtest_filter=" + pattern], capture_output=True, text=True, timeout=600)
    passed, skipped = (int(found.group(1)) if found else 0 for found in (re.search(rf"\[  {word} \] (\d+) test", done.stdout)
                                                                         for word in ("PASSED ", "SKIPPED")))
    if skipped:  # its own run says why
        print(f"{path}: {skipped} of {sorted(names)} cannot run here", flush=True)
    check(done.returncode == 0 and passed + skipped >= len(names), f"{path}: {sorted(names)} pass", done)


def defaults():
    engineer = Engineer()
    work = desk.work("1 defaults", engineer, proposer="llm")
    models = work.models
    check(models["retry_budgets"] == {"interview": 1, "codegen": 3, "correctness": 3, "performance": 3, "polish": 1}, "budgets: %s" % models)
    check(models["escalate"] is False and models["escalation_model"] == "anthropic:claude-opus-4-7", "escalation is off")
    check(set(models["stage_models"].values()) == {SONNET} and models["budget_usd"] == 2, "one model, two dollars")
    check(work.report["performance"]["perf_target"] == 1.0, "the target")
    shapes = [row["dims"] if "dims" in row else row for row in work.report["correctness"]["shape_results"]]
    check({f"N={n}" for n in (1, SIZE)} <= set(re.findall(r"N=\d+", json.dumps(shapes).replace('{"N": ', "N="))), "shapes: %s" % shapes)
    # 4: what the reference's parameters are called and are.
    spec = json.loads(desk.read(work.folder, "stage1_interview/kernel_spec.json"))
    spec = spec.get("kernel_spec", spec)
    desk.name = "4 introspection"
    check([(row["name"], row["dtype"], row["shape"]) for row in spec["inputs"]] == [("x", "fp32", ["N"]), ("y", "fp32", ["N"])], "%s" % spec)
    desk.name = "11 without a clock"
    performance = work.report["performance"]
    check(performance["speedup_vs_reference"] is None and performance["speedup_vs_torch_compile"] is None and performance["below_target"] is None,
          "nothing is claimed: %s" % performance)
    desk.name = "12 the performance loop"
    check(engineer.seen.count("faster") == 3, "all attempts are used below the goal: %s" % engineer.seen)
    # 18, 20: the run is found by its whole id, its beginning, its folder, and as the latest.
    desk.name = "18 the store"
    run = work.report["run_id"]
    check(re.fullmatch(r"\d{8}-\d{6}-blend-[0-9a-f]{12}", run) and os.path.isabs(work.report["artifacts_dir"]), "an id, an absolute path: %s" % run)
    desk.name = "20 the command line"
    for name in (run, run[:-2], run[-12:], run[-12:-4], work.folder, "latest"):
        done = desk.run("inspect", name)
        check(done.returncode == 0 and run in done.stdout, f"inspect {name}", done)
    check(desk.run("inspect", "nothing-of-the-kind").returncode in (1, 2), "a run that is not there")
    check(desk.run("synthesize", "--reference", desk.reference, "--prompt-file", "/nowhere/prompt.txt").returncode == 2, "a prompt that is not there")
    check(re.search(r"PASSED (?:below [\d,]+ elements: )?blend\n.*kernel .*right .*fast .*search .*models .*run ", work.done.stdout, re.S), "the summary", work.done)


def shipped_at_sixteen_million():
    """The timed shape when the user gives none."""
    desk.name = "1 the timed shape"
    words = [word for word in desk.words if word not in ("--dim", f"N={SIZE}")]
    done = desk.run("synthesize", "--reference", desk.reference, *words, "--proposer", "builtin", "--time", "0", timeout=600)
    dims = re.search(r" at N=(\d+)", done.stdout)
    check(done.returncode == 0 and dims and 2 ** 20 <= int(dims.group(1)) <= 2 ** 24, "millions of elements", done)
    matrix = desk.write("matrix.py", "def matrix(x: 'fp32[B, D]'):\n    return x * 0.75\n")
    done = desk.run("synthesize", "--reference", matrix, *words, "--proposer", "builtin", "--time", "0", timeout=600)
    dims = re.search(r" at B=(\d+) D=(\d+)", done.stdout)
    check(done.returncode == 0 and dims and 2 ** 20 <= int(dims.group(1)) * int(dims.group(2)) <= 2 ** 24, "of a matrix, too", done)


class Both(Engineer):
    """Shows one module to a tool and writes another beside the call; then only talks."""

    def codegen(self, told):
        return {"text": fenced(self.scalar(told, value="0.0f")), "calls": [{"name": "compile", "arguments": {"source": self.scalar(told)}}]}


def codegen():
    work = desk.work("5 a tool's source wins", Both(), *SHORT)
    check(work.done.returncode == 0 and "0.75f" in work.kernel and len(work.refused) == 1, "over the fenced one", work.done)

    class Never(Careless):
        def refused(self, told):
            return self.codegen(told)
    work = desk.work("5 exhausted", Never(), *SHORT)
    unknown = "undeclared identifier 'factor'" if desk.compiler() == "clang" else '"factor" is undefined'
    check(work.report["failed_stage"] == "codegen" and unknown in work.report["failure_reason"], "the last error: %s"
          % work.report["failure_reason"])
    check(len(work.outcomes("codegen")) == 3 and work.traces["codegen"]["attempts"] == 3, "the attempts")
    check("factor" in desk.read(work.folder, "stage2_codegen/attempt_03/compile.log"), "the log")
    check("factor" in desk.read(work.folder, "stage2_codegen/attempt_03/kernel.cu"), "the source")
    check(not os.path.exists(os.path.join(work.folder, "stage2_codegen", "final")), "and nothing final")


    class Misspells(Engineer):
        def codegen(self, told):
            return self.answer(self.scalar(told).replace("//! output", "//! outptu").replace("fp32[N]", "fp33[N]", 1))
        refused = codegen
    work = desk.work("5 no module", Misspells(), *SHORT)
    reason = work.report["failure_reason"]
    check("unknown line 'outptu'" in reason and "unknown dtype 'fp33'" in reason and "\n" not in reason, "what the plan reader said: %s" % reason)


def hard_gate():
    work = desk.work("9 hard gate", Tail(), *SHORT, "--retries", "correctness=0")
    report = work.report
    check(report["passed"] is False and report["failed_stage"] == "correctness" and report["performance"] is None, "%s" % report["failed_stage"])
    stages = [name for name in report["report"]["stages_executed"] if name in ("interview", "codegen", "correctness", "performance", "polish")]
    check(stages == ["interview", "codegen", "correctness"], "nothing behind it: %s" % stages)
    check(report["correctness"]["failing_inputs"], "with the inputs that fail")


COMPARED = '''import torch


def above(x: "fp32[M, N]", limit: "fp32[]"):
    return (x > limit).long()
'''
ABOVE = """//! kernelwright 1
//! task    above
//! input   x: fp32[M, N]
//! input   limit: fp32[]
//! output  y: int64[M, N]
//! launch  above grid(ceil_div(N, 32), M) block(32) args(x, limit, y, N)
__global__ void above(const float* x, const float* limit, long long* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
  const long long row = blockIdx.y * n;
  if (i < n) y[row + i] = x[row + i] > *limit;
}
"""


def correctness():
    desk.name = "7 correctness"
    reference, count = desk.write("above.py", COMPARED), 0
    crash = ABOVE.replace("  const long long row", "  long long* nothing = nullptr;\n  *nothing = 1;\n  const long long row")
    for text, code, words in [(ABOVE, 0, "PASSED"), (ABOVE.replace("if (i < n)", "if (i < n && n != 7)"), 1, "N=7"),
                              (crash, 1, r"above3.cu:10"),
                              (ABOVE.replace("y: int64[M, N]", "y: int64[N, M]"), 1, "extent"),
                              (ABOVE.replace("//! launch", "//! output  z: int64[M]\n//! launch").replace("y, N)", "y, z, N)", 1), 1, "y, z")]:
        count += 1
        path = desk.write(f"above{count}.cu", text)
        done = desk.run("verify", path, "--reference", reference, "--device", "vgpu", "--cross-check", "never", "--compiler", desk.compiler())
        check(done.returncode == code and re.search(words, done.stdout + done.stderr), f"module {count}: /{words}/", done)


def screening():
    """24: files are sorted into three scopes; packages and hidden files are none."""
    desk.name = "24 screening"
    folder = desk.path("bench")
    model = ("import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return %s\n\n\n"
             "def get_inputs():\n    return [torch.randn(4, 8)]\n\n\ndef get_init_inputs():\n    return []\n")
    for name, text in {"level1/1_Good.py": model % "torch.relu(x)", "level1/2_Broken.py": "def f(x:\n", "level1/__init__.py": "",
                       "KernelBench/level1/5_Nested.py": model % "torch.tanh(x)", "level3/6_Whole.py": model % "torch.relu(x)",
                       "level2/3_Random.py": model % "x + torch.randn_like(x)",
                       "level2/4_Open.py": "import torch\n\n\ndef f(x):\n    return x + 1\n"}.items():
        os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    done = desk.run("screen", folder, "--json")
    rows = {row["name"]: row["scope"] for row in json.loads(done.stdout)["files"]} if done.stdout else {}
    check(rows == {"level1.1_Good": "in_scope", "level1.2_Broken": "needs_review", "KernelBench.level1.5_Nested": "in_scope", "level2.3_Random": "out_of_scope",
                   "level2.4_Open": "needs_review"}, "%s" % rows, done)


def router():
    desk.name = "22 the router"
    for name, words in [("", "needs a value|names no model"), ("nobody:x", "unknown provider 'nobody'"), ("openai:", "names no model")]:
        done = desk.synthesize(desk.reference, "--proposer", "llm", "--model-id", name)
        check(done.returncode == 2 and re.search(words, done.stderr), f"'{name}': {words}", done)


NAMED = '''from math import pi
from torch import float32 as single

import torch
import torch.nn.functional as F

SCALE = 2 * pi


def helper_2(v):
    return F.relu(v)


def Überblick_7(x: "fp32[N]"):
    return (helper_2(x) * SCALE).to(single)
'''


def better():
    """25: what others let pass, or fall over."""
    desk.name = "25 a reference with imports, constants, helpers and any name"
    words = ["--function", "Überblick_7", "--proposer", "builtin"]
    done = desk.synthesize(desk.write("named.py", NAMED), *words)
    check(done.returncode == 0, "is read", done)
    desk.name = "25 a tolerance above policy"
    reference = desk.write("loose.py", 'atol = 100.0\nrtol = 100.0\n\n\ndef blend(x: "fp32[N]", y: "fp32[N]"):\n    return x * 0.75 + y\n')
    work = desk.work("25 a tolerance above policy", Cheat([ABOVE_NOTHING]), *SHORT, "--retries", "correctness=0", reference=reference)
    check(work.report["failed_stage"] == "correctness", "widens nothing: %s" % work.report["failure_reason"], work.done)
    desk.name = "25 a report for every failure"
    for words, stage in [(["--reference", desk.write("bad.py", "def f(x: 'fp32[N]'):\n    return x.nothing_like_it()\n")], "reference"),
                         (["--reference", desk.write("worse.py", "def f(:\n")], "reference")]:
        done = desk.run("synthesize", *words, *desk.words, "--proposer", "builtin", env=WITHOUT_TORCH)
        report = desk.report(desk.newest())
        check(done.returncode == 2 and report["failed_stage"] == stage and report["failure_reason"], f"{stage}", done)


ABOVE_NOTHING = """//! kernelwright 1
//! task    blend
//! input   x: fp32[N]
//! input   y: fp32[N]
//! output  out0: fp32[N]
//! launch  blend grid(ceil_div(N, 128)) block(128) args(x, y, out0, N)
__global__ void blend(const float* x, const float* y, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  if (i < n) out[i] = x[i] * 0.75f;
}
"""

INPUTS = {  # group 8: right only on what a lazy judge would draw
    "small values": "fminf(fmaxf(x[i], -2.0f), 2.0f) * 0.75f + y[i]",
    "no negatives": "fabsf(x[i]) * 0.75f + y[i]",
    "ascending values": "(n > 1 && x[0] < x[n - 1] ? x[i] : 0.0f) * 0.75f + y[i]",
    "equal inputs": "x[i] == y[i] ? x[i] * 1.75f : x[i] * 0.75f + x[i]",
}


def adversarial_inputs():
    desk.name = "8 inputs"
    for name, value in INPUTS.items():
        path = desk.write("lazy.cu", ABOVE_NOTHING.replace("x[i] * 0.75f", value))
        done = desk.run("verify", path, "--reference", desk.reference, "--device", "vgpu", "--compiler", desk.compiler(), "--cross-check", "never",
                        "--dim", "N=1000")
        check(done.returncode == 1 and "WRONG" in done.stdout.upper(), f"more than {name} is drawn", done)


TASK = """name = "rows"
[inputs]
x = "fp32[B, D]"
[shapes]
correctness = [{ B = 3, D = 5 }]
benchmark = [{ B = 64, D = 128 }, { B = 4096, D = 1024 }, { B = 1, D = 128 }]
"""
ROWS = "def rows(x):\n    return x * 0.75\n"


def priorities():
    """13: which shape counts, when a task has several and the user says what matters."""
    folder = desk.path("rows")
    os.makedirs(folder, exist_ok=True)
    desk.write("rows/task.toml", TASK)
    desk.write("rows/reference.py", ROWS)
    at = desk.words.index("--dim")
    words = desk.words[:at] + desk.words[at + 2:]
    for prompt, dims, by, count in [("", "B=64 D=128", "time on the GPU", 1), ("low latency", "B=1 D=128", "including launches", 1),
                                    ("high throughput", "B=4096 D=1024", "time on the GPU", 1), ("balanced", "B=64 D=128", "geometric mean", 3)]:
        desk.name = f"13 '{prompt}'"
        said = ["--prompt", prompt] if prompt else []
        done = desk.run("synthesize", "--reference", folder, *words, "--proposer", "builtin", *said, "--time", "0")
        performance = desk.report(desk.newest())["performance"]
        ranking = performance["ranking"]
        check(done.returncode == 0 and performance["dims"] == dims and by in ranking["by"], "%s" % ranking, done)
        check(len(ranking["shapes"]) == count and ranking["shapes"][0]["dims"] == dims, "its shapes: %s" % ranking)
        check(all(row["time_us"] is None and row["estimate_us"] > 0 for row in ranking["shapes"]), "estimates are called so: %s" % ranking)
    work = desk.words
    desk.words = words
    for proposer, prompt, dims, count in [("llm", "make it great for high throughput", "B=4096 D=1024", 1), ("llm", "great", "B=64 D=128", 3),
                                          ("hybrid", "great, balanced", "B=64 D=128", 3)]:
        made = desk.work(f"13 {proposer}, '{prompt}'", Rows(), *SHORT, "--prompt", prompt, reference=folder, proposer=proposer, whole=False)
        ranking = made.report["performance"]["ranking"] if made.report["performance"] else {}
        check(made.done.returncode == 0 and ranking.get("shapes") and ranking["shapes"][0]["dims"] == dims and len(ranking["shapes"]) == count,
              "%s" % ranking, made.done)
        check(f"ranked by {ranking.get('by')}" in made.done.stdout, "the summary says so", made.done)
    desk.words = work
    desk.name = "13 as a number of elements"
    done = desk.run("synthesize", "--reference", desk.write("rows.py", ROWS.replace("x)", "x: 'fp32[B, D]')", 1)), *words, "--proposer", "builtin",
                    "--time", "0", "--elements", "16")
    check(done.returncode == 0 and "B=4 D=4" in done.stdout, "4 x 4", done)


class Rows(Engineer):
    """For matrices of one input."""

    def improve(self, told):
        return self.codegen(told)

    def codegen(self, told):
        module = self.scalar(told).replace("args(x, out0, N)", "args(x, out0, B * D)").replace("ceil_div(N, THREADS)", "ceil_div(B * D, THREADS)")
        return self.answer(module)


def artifact(out, task):
    """The run folder of an evaluation's task."""
    folder = os.path.join(out, "artifacts", task)
    return next(root for root, folders, _ in os.walk(folder) if "inputs" in folders)


def fixtures():
    """21: folders of another generator are tasks like ours."""
    desk.name = "21 fixtures"
    for name, reference in {"scale_rows_fp16": "def reference(x):\n    import torch\n    return (x.float() * 2.5).to(x.dtype)\n",
                            "add_bias": "def reference(x, bias):\n    return x + bias\n"}.items():
        os.makedirs(desk.path("fixtures/" + name), exist_ok=True)
        for file, text in {"prompt.txt": "Generate a CUDA kernel for bf16 rows.\n", "reference.py": reference, "shapes.yaml": "- [4, 127]\n- [8, 256]\n"
                           "- [16, 1024]\n", "notes.md": "# notes\n"}.items():
            desk.write(f"fixtures/{name}/{file}", text)
    at = desk.words.index("--dim")
    words = [word for word in desk.words[:at] + desk.words[at + 2:] if word not in ("--goal", "1000")]
    out = desk.path("fixture_results")
    done = desk.run("eval", "--suite", desk.path("fixtures"), "--out", out, *words, "--proposer", "builtin", "--time", "0", timeout=600)
    table = desk.read(out, "results.csv").splitlines()
    check(done.returncode == 0 and [row.split(",")[:2] for row in table[1:]] == [["add_bias", "true"], ["scale_rows_fp16", "true"]], "both pass: %s"
          % table, done)
    rows = json.loads(desk.read(out, "kernels/scale_rows_fp16.json"))["report"]
    shapes = json.dumps(rows["correctness"]["shapes_tested"])
    check("B=4 D=127" in shapes and "B=16 D=1024" in shapes, "their shapes are judged: %s" % shapes)
    check(rows["performance"]["dims"] == "B=4096 D=4096", "and 2^24 elements timed: %s" % rows["performance"]["dims"])
    spec = json.loads(desk.read(artifact(out, "add_bias"), "inputs/spec.json"))
    check([(one["dtype"], one["shape"]) for one in spec["inputs"]] == [("bf16", ["B", "D"]), ("bf16", ["D"])], "dtypes and shapes: %s" % spec["inputs"])
    # 25: failed rows are tried again.
    desk.name = "25 resume"
    desk.write("fixtures/add_bias/reference.py", "def reference(x, bias):\n    return x.nothing_like_it(bias)\n")
    words += ["--proposer", "builtin", "--time", "0"]
    again = desk.path("again")
    done = desk.run("eval", "--suite", desk.path("fixtures"), "--out", again, *words, env=WITHOUT_TORCH, timeout=600)
    check("add_bias,false" in desk.read(again, "results.csv"), "a row that failed", done)
    desk.write("fixtures/add_bias/reference.py", "def reference(x, bias):\n    return x - bias\n")
    done = desk.run("eval", "--suite", desk.path("fixtures"), "--out", again, *words, "--resume", timeout=600)
    check(done.returncode == 0 and "add_bias,true" in desk.read(again, "results.csv"), "is tried again", done)


def compiles():
    """17: what is compiled once is kept; what cannot be is said."""
    desk.name = "17 compiling"
    good = desk.write("kept.cu", ABOVE.replace("\n__global__", "\n// %d\n__global__" % os.getpid(), 1))
    words = ["--device", "vgpu", "--compiler", desk.compiler(), "--dim", "M=2", "--dim", "N=40", "--json"]
    own = {"KERNELWRIGHT_CACHE": desk.path("own")}
    cached = [json.loads(desk.run("run", good, *words, env=own).stdout or "{}") for _ in range(2)]
    kept = [re.search(r'"from_cache": (true|false)', json.dumps(one)) for one in cached]
    check([one and one.group(1) for one in kept] == ["false", "true"], "the second compile is the first: %s" % str(cached)[:2000])
    done = desk.run("run", desk.write("typo.cu", ABOVE.replace("threadIdx.x", "threadIdx.w")), *words[:-1])
    check(done.returncode == 1 and re.search(r"typo.cu:8", done.stdout + done.stderr), "the line of an error", done)


def counters():
    """16: what a profiler would say, counted exactly."""
    desk.name = "16 counters"
    done = desk.run("run", desk.write("counted.cu", ABOVE), "--device", "vgpu", "--compiler", desk.compiler(), "--dim", "M=2", "--dim", "N=64",
                    "--counters", "--json")
    text = done.stdout
    check(done.returncode == 0 and re.search(r'"global_store_bytes": %d\b' % (2 * 64 * 8), text), "2 x 64 results of 8 bytes", done)
    doctor = json.loads(desk.run("doctor", "--json").stdout)
    check({"ncu", "ncu-counters"} <= set(doctor["tools"]), "whether a profiler is there is known: %s" % list(doctor["tools"]))


HERE_TOO = {1: [defaults, shipped_at_sixteen_million], 4: [defaults], 5: [codegen], 7: [correctness], 8: [adversarial_inputs], 9: [hard_gate],
            11: [defaults], 12: [defaults], 13: [priorities], 16: [counters], 17: [compiles], 18: [defaults], 20: [defaults], 21: [fixtures],
            22: [router], 24: [screening], 25: [better, fixtures]}

for group in range(1, 26):
    desk.name = f"group {group}"
    check(COVERED.get(group) or HERE_TOO.get(group), "a test covers it")
    for path, names in COVERED.get(group, {}).items():
        for name in names:
            check(exists(path, name), f"{path} has {name}")
        if group in RUN:
            run_tests(path, names)
for step in dict.fromkeys(step for steps in HERE_TOO.values() for step in steps):
    step()
desk.finish()
