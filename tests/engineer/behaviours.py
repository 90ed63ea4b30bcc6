"""What people who come from another generator rely on, in 25 groups: each is asserted here, or by a test that is named here and must
exist under that name.

    behaviours.py KERNELWRIGHT
"""
import json
import os
import re
import sys

from desk import HERE, SIZE, SONNET, Desk
from engineer import Careless, Cheat, Engineer, Tail, fenced

ROOT = os.path.dirname(os.path.dirname(HERE))
desk = Desk(sys.argv[1])
check = desk.check
SHORT = ["--retries", "performance=0", "--retries", "polish=0"]

# Group -> file -> tests of GoogleTest as Suite.Name (* is all of them), or words that stand in a script.
COVERED = {
    1: {
        "src/stages/spec_test.cpp": ["PlanDefaults.AreOneThreeThreeThreeOne"],
        "src/verify/shapes_test.cpp": ["Shapes.AreTheTasksOwnAndAwkwardOnes"],
    },
    2: {
        "src/stages/spec_test.cpp": ["KernelSpec.IsFrozen", "KernelSpec.ComesBackFromItsJson", "ReadSpec.NormalisesOrRefuses"],
    },
    3: {
        "src/stages/spec_test.cpp": ["ReadInterview.TakesFencedAndBareJson", "ReadSpec.NormalisesOrRefuses"],
        "src/stages/stages_test.cpp": ["StagesTest.InterviewRefusesProse"],
    },
    5: {
        "src/stages/stages_test.cpp": [
            "StagesTest.SendsCompileErrorAndSourceBack",
            "StagesTest.StopsWhenTheBudgetsAreSpent",
            "StagesTest.WhatToolsSawCountsWhenTheAnswerIsWords",
        ],
    },
    6: {
        "src/stages/stages_test.cpp": ["StagesTest.EscalatesWithTheWholeHistory", "StagesTest.NobodyIsEscalatedToUnasked"],
        "tests/stages/trouble.py": ["both in the trace"],
    },
    7: {
        "src/verify/gate_test.cpp": [
            "GateTest.EveryShapeHasItsSets",
            "GateTest.WrongNumbersCarryTheWorstElementAndALine",
            "Static.IsRejectedWithTheReason",
            "GateTest.ACertainFindingRejects",
        ],
    },
    8: {
        "src/verify/shapes_test.cpp": [
            "Families.OffsetHasALargeMean",
            "Families.ProbeHasOneElementThatDwarfsTheRest",
            "Pool.ASeedReplaysAndEntropyDoesNot",
        ],
        "src/verify/families_test.cpp": ["Families.SpikesReachBeyondHalvesInEverySecondDraw"],
    },
    9: {
        "src/stages/stages_test.cpp": ["StagesTest.HardGateWithoutRepairs"],
    },
    10: {
        "src/stages/stages_test.cpp": ["StagesTest.RepairsWhatIsWrong"],
        "tests/engineer/personas.py": ["stage3_repair/attempt_01/correctness_report.md"],
    },
    11: {
        "src/engine/eval_test.cpp": ["EvalRow.TakesTheBestBaseline", "EvalRow.WithoutAClockNothingIsClaimed"],
        "src/engine/bench_test.cpp": ["BenchTest.AReferenceTorchCannotCallCostsOnlyTheBaselines"],
    },
    12: {
        "src/stages/stages_test.cpp": [
            "StagesTest.PerformanceKeepsTheBestAndGatesEveryone",
            "StagesTest.PerformanceNeverGetsWorse",
            "StagesTest.PerformanceStopsAtTheGoal",
        ],
    },
    13: {
        "src/engine/bench_test.cpp": ["BenchTest.WithoutAGpuThereIsAnEstimate"],
        "src/verify/gate_test.cpp": ["GateTest.TheGpuSeesTheBenchmarkShapeItself"],
    },
    14: {
        "src/engine/torch_baselines_test.cpp": ["FakeBaselines.AFailingModeKeepsItsOutcome", "FakeBaselines.WithoutCudaIsAnOutcome"],
        "src/engine/bench_test.cpp": ["BenchTest.TorchModesAreTimedBesideTheCandidate"],
    },
    15: {
        "src/engine/cost_model_test.cpp": [
            "CostModel.ACopyIsBoundByMemoryNearTheFloor",
            "CostModel.NothingIsQuickerThanALaunch",
            "CostModel.FewBlocksLeaveTheGpuIdle",
        ],
        "src/engine/model_bench_test.cpp": ["BoundText.GivesAdviceForTheBound"],
    },
    16: {
        "src/vgpu/counters_test.cpp": ["*"],
        "src/engine/check_test.cpp": ["Doctor.KnowsWhetherAProfileReadCounters"],
        "tests/cli/doctor.py": ["ncu"],
    },
    17: {
        "src/compile/cache_test.cpp": ["Cache.RemembersAcrossObjects", "Cache.DamagedEntriesAreMadeAgain"],
        "src/compile/search_test.cpp": ["Search.NothingFoundIsOneClearError"],
        "src/compile/messages_test.cpp": ["ParseLog.KnowsEveryDialect"],
        "src/compile/program_compiler_test.cpp": ["Nvcc.IsStoppedInTime"],
        "src/os/process_test.cpp": ["Child.EndsAreTold", "Child.AnAbsurdFrameLengthIsRefused"],
    },
    18: {
        "src/store/run_test.cpp": ["Run.KeepsEverythingItIsGiven"],
        "src/store/index_test.cpp": ["RunId.SortsByTimeAndFitsInAFileName"],
    },
    19: {
        "src/stages/stages_test.cpp": ["StagesTest.PolishGivesAnAnnotatedModule", "StagesTest.PolishThatFailsSaysWhy"],
        "tests/engineer/misfits.py": ["is wrong where it is timed"],
    },
    20: {
        "src/cli/synthesize_text_test.cpp": ["SynthesizeText.SaysWhatHowSureHowFastAndWhere", "SynthesizeText.AFailedSearchSaysWhy"],
        "src/store/index_test.cpp": ["FindRun.ByPathIdBeginningAndLatest"],
    },
    21: {
        "src/evaluation/suite_test.cpp": ["SuiteFolder.FindsFoldersAndFilesInNaturalOrder", "SuiteFolder.SelectsByNameAndPattern"],
        "src/evaluation/row_test.cpp": ["Row.TheFirstColumnsAreThoseOthersKnow", "Row.ReadsTheTablesOfOthers"],
        "src/evaluation/totals_test.cpp": ["Totals.SpeedupsAreOrderedAndBracketed"],
        "src/engine/eval_test.cpp": ["EvalFailure.IsToldApartByBlame"],
        "src/evaluation/runner_test.cpp": ["RunnerTest.RegressionsAgainstAnEarlierRun"],
    },
    22: {
        "src/llm/llm_test.cpp": ["ModelIds.AreProviderAndModel", "Config.KeysComeFromTheEnvironmentOnly"],
        "tests/stages/trouble.py": ["a key: hybrid"],
    },
    23: {
        "src/llm/wire_test.cpp": ["Bodies.AreGolden", "Streams.AreReadWhateverThePiecesAre"],
        "src/llm/llm_test.cpp": ["ToolCalls.KeepWhatCannotBeParsed"],
        "src/llm/decorators_test.cpp": ["Degrading.ChangesNothingWhereAllIsThere"],
        "tests/llm/providers_test.cpp": ["*"],
    },
    25: {
        "tests/verify/mutants_test.cpp": ["*"],
        "tests/verify/imposters_test.cpp": ["*"],
        "src/engine/bench_test.cpp": ["BenchTest.WhatIsWrongIsNeverTimed"],
        "tests/engineer/misfits.py": ["wrong at the timed shape"],
        "tests/exploits/027-cache-by-pointer/expect.txt": ["cached_for"],
        "tests/exploits/036-side-stream/expect.txt": ["host"],
        "src/evaluation/runner_test.cpp": ["RunnerTest.ResumeKeepsWhatPassedAndTriesAgainWhatFailed"],
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
    check(re.fullmatch(r"\d{8}-\d{6}-blend-[0-9a-f]{4}", run) and os.path.isabs(work.report["artifacts_dir"]), "an id, an absolute path: %s" % run)
    desk.name = "20 the command line"
    for name in (run, run[:-2], work.folder, "latest"):
        done = desk.run("inspect", name)
        check(done.returncode == 0 and run in done.stdout, f"inspect {name}", done)
    check(desk.run("inspect", "nothing-of-the-kind").returncode in (1, 2), "a run that is not there")
    check(desk.run("synthesize", "--reference", desk.reference, "--prompt-file", "/nowhere/prompt.txt").returncode == 2, "a prompt that is not there")
    check(re.search(r"PASSED blend\n.*kernel .*right .*fast .*search .*models .*run ", work.done.stdout, re.S), "the summary", work.done)


def shipped_at_sixteen_million():
    """The timed shape when nobody says one."""
    desk.name = "1 the timed shape"
    words = [word for word in desk.words if word not in ("--dim", f"N={SIZE}")]
    done = desk.run("synthesize", "--reference", desk.reference, *words, "--proposer", "builtin", "--time", "0", timeout=600)
    check(done.returncode == 0 and "N=16777216" in done.stdout, "2^24 elements", done)


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
    check(work.report["failed_stage"] == "codegen" and '"factor" is undefined' in work.report["failure_reason"], "the last error: %s"
          % work.report["failure_reason"])
    check(len(work.outcomes("codegen")) == 3 and work.traces["codegen"]["attempts"] == 3, "the attempts")
    check("factor" in desk.read(work.folder, "stage2_codegen/attempt_03/compile.log"), "the log")
    check("factor" in desk.read(work.folder, "stage2_codegen/attempt_03/kernel.cu"), "the source")
    check(not os.path.exists(os.path.join(work.folder, "stage2_codegen", "final")), "and nothing final")


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
                       "level2/3_Random.py": model % "x + torch.randn_like(x)",
                       "level2/4_Open.py": "import torch\n\n\ndef f(x):\n    return x + 1\n"}.items():
        os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    done = desk.run("screen", folder, "--json")
    rows = {row["name"]: row["scope"] for row in json.loads(done.stdout)["files"]} if done.stdout else {}
    check(rows == {"level1.1_Good": "in_scope", "level1.2_Broken": "out_of_scope", "level2.3_Random": "out_of_scope",
                   "level2.4_Open": "needs_review"}, "%s" % rows, done)


def router():
    desk.name = "22 the router"
    for name, words in [("", "names no model"), ("nobody:x", "no provider 'nobody'"), ("openai:", "names no model")]:
        done = desk.synthesize(desk.reference, "--proposer", "llm", "--model-id", name)
        check(done.returncode == 2 and words in done.stderr, f"'{name}': {words}", done)


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
        done = desk.run("synthesize", *words, *desk.words, "--proposer", "builtin")
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

HERE_TOO = {1: [defaults, shipped_at_sixteen_million], 4: [defaults], 5: [codegen], 7: [correctness], 9: [hard_gate], 11: [defaults], 12: [defaults],
            18: [defaults], 20: [defaults], 22: [router], 24: [screening], 25: [better]}

for group in range(1, 26):
    desk.name = f"group {group}"
    check(COVERED.get(group) or HERE_TOO.get(group), "somebody covers it")
    for path, names in COVERED.get(group, {}).items():
        for name in names:
            check(exists(path, name), f"{path} has {name}")
for step in dict.fromkeys(step for steps in HERE_TOO.values() for step in steps):
    step()
desk.finish()
