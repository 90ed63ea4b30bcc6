"""Engineers that must not be trusted: they boast, cheat, refuse, never end, are right only at shapes that they believe are not timed,
or break a right module. No wrong module is shipped, and a module that was right before stays.

    misfits.py KERNELWRIGHT
"""
import json
import os
import sys

from desk import HERE, KEY, SIZE, WIRES, Desk
from engineer import Boaster, Breaks, Cheat, Engineer, Expects, Loops, Refuses, Slow

desk = Desk(sys.argv[1])
check = desk.check
EXPLOITS = os.path.join(os.path.dirname(HERE), "exploits")
SHORT = ["--retries", "performance=0", "--retries", "polish=0"]


def exploit(number):
    folder = next(name for name in sorted(os.listdir(EXPLOITS)) if name.startswith(number + "-"))
    with open(os.path.join(EXPLOITS, folder, "cheat.cu")) as file:
        return file.read()


def message(number):
    folder = next(name for name in sorted(os.listdir(EXPLOITS)) if name.startswith(number + "-"))
    with open(os.path.join(EXPLOITS, folder, "expect.txt")) as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if ": " in line)["message"]


# Words count for nothing: with a model alone nothing ships, with the built-in proposer its kernel does.
work = desk.work("boaster", Boaster(), *SHORT)
check(work.done.returncode == 1 and work.report["failed_stage"] == "correctness", "nothing ships", work.done)
check(work.report["failure_reason"] and "wrong" in work.report["failure_reason"], "and the report says why: %s" % work.report["failure_reason"])
check(work.report["correctness"] and not work.report["correctness"]["passed"] and work.report["correctness"]["failing_inputs"], "with the inputs")
check(len(work.requests) == 4 and not any("VERIFIED" in row["conversation"]["messages"][-1]["text"] for row in work.requests),
      "its claims are not passed on")
check(work.report["report"]["stages_executed"][-2:] != ["performance", "polish"], "no stage tried to make it faster")
work = desk.work("boaster beside the built-in", Boaster(), *SHORT, proposer="hybrid", whole=False)
check(work.done.returncode == 0 and "VERIFIED" not in work.kernel, "the built-in's kernel ships", work.done)
check("correctness: wrong" in work.warnings, "with a warning: " + work.warnings)
desk.certain(work)
hybrid = Engineer()
work = desk.work("honest beside the built-in", hybrid, "--retries", "performance=1", proposer="hybrid", whole=False)
check(work.done.returncode == 0 and hybrid.seen[0] == "improve", "it is shown the built-in's module: %s" % hybrid.seen, work.done)
check("this module:" in work.told(0) and "//! launch" in work.told(0), "with hints")
if desk.run("doctor", "--has", "nvdisasm").returncode == 0 and desk.compiler() != "clang":
    check("machine code (disassembled):" in work.told(0), "and with its machine code: " + work.told(0))

# Cheats from the corpus, as answers: three that no module may hold, then four that the gate finds.
for reference, numbers in (("clamp_scale", ["024", "018", "034", "015", "047", "055b"]), ("row_sum", ["027", "002", "016", "010"])):
    engineer = Cheat([exploit(number) for number in numbers], "This one is honest.")
    path = os.path.join(EXPLOITS, "references", reference + ".py")
    words = ["--dim", "B=37", "--dim", "D=129"] if reference == "row_sum" else []
    old = desk.words[:]
    if words:
        at = desk.words.index("--dim")
        desk.words[at:at + 2] = words
    work = desk.work("cheats at " + reference, engineer, *SHORT, reference=path)
    desk.words = old
    check(work.done.returncode == 1 and work.report["failed_stage"] in ("codegen", "correctness"), "nothing ships", work.done)
    check(not engineer.modules, "every cheat was tried: %d left" % len(engineer.modules), work.done)
    refusals = "\n".join(list(map(str, work.refused.values())) + [work.told(at) for at in range(len(work.requests))])
    check(len(work.refused) == len(numbers) and all(work.refused.values()), "every one was refused: %s" % work.refused)
    for number in numbers:
        check(message(number) in refusals, f"{number} for its own reason, '{message(number)}': {refusals[:3000]}")

# Refusals end it after the attempts of codegen; so do tools without an end.
work = desk.work("refuses", Refuses(), *SHORT, model=WIRES["openai-chat"])
check(work.done.returncode == 1 and work.report["failed_stage"] == "codegen" and len(work.requests) == 3, "three refusals", work.done)
check(all("refusal" in outcome for outcome in work.outcomes("codegen")), "are called so: %s" % work.attempts)
check(work.report["correctness"] is None and work.report["performance"] is None, "nothing was judged")
engineer = Loops()
work = desk.work("endless tools", engineer, *SHORT, "--retries", "codegen=1", "--retries", "correctness=1", "--budget", "50")
check(work.done.returncode == 1 and len(work.requests) == 24, "12 rounds in each of two attempts: %d" % len(work.requests), work.done)
check("No further tool calls" in json.dumps(work.requests[11]["body"]), "the last round says so")
results = work.requests[1]["conversation"]["messages"][-1]["results"]
check([row["failed"] for row in results] == [False] * 8 + [True] * 2, "8 calls of a round are run: %s" % results)
check(len(work.refused) == 1, "the same module is judged once: %s" % work.refused)

# Right at every small shape, wrong where the clock looks: never timed, never best, never shipped.
engineer = Expects()
work = desk.work("wrong at the timed shape", engineer, "--retries", "polish=0")
check(work.done.returncode == 0 and engineer.guess < SIZE, "an honest kernel ships: %d" % engineer.guess, work.done)
check(len(work.outcomes("performance")) == 3 and all("is not right" in outcome for outcome in work.outcomes("performance")),
      "none of its others was right: %s" % work.outcomes("performance"))
check("return;" not in work.kernel and f"N={SIZE}" in work.told(2), "and it is told where it was caught: " + work.told(2)[:900])
timed = [row for row in work.report["search"]["candidates"] if row["refused"] and (row["estimate_us"] or row["measured_us"])]
check(not timed, "nothing that is wrong has a time: %s" % timed)
desk.certain(work)

# A polish that breaks the kernel: the one before it ships, and the report says so.
for name, old, new, why in [("does not compile", "float* out", "floot* out", "refused"), ("is wrong", "* 0.75f", "* 0.751f", "refused"),
                            ("is wrong where it is timed", "if (i < n)", f"if (i < n && n != {SIZE})", "refused"),
                            ("is slower", "if (i < n) out[i] =",
                             "float more = 0.0f;\n  for (int k = 0; k < 300 && i < n; ++k) more += x[(i + 997 * k) % n] * 0.0f;\n"
                             "  if (i < n) out[i] = more +", "changes code and is slower"),
                            ("another task", "output  out0: fp32[N]", "output  out0: fp32[N + 1]", "refused")]:
    work = desk.work("polish: " + name, Breaks(old, new), "--retries", "performance=0")
    status = json.loads(desk.read(work.folder, "stage5_polish/status.json"))
    check(work.done.returncode == 0 and not status["accepted"] and why in status["reason"], "the verified one ships: %s" % status, work.done)
    check("polish: " in work.warnings and "0.75f" in work.kernel and "floot" not in work.kernel and "n !=" not in work.kernel and "997" not in work.kernel,
          "as it was")
    check(work.report["report"]["stages_executed"][-1] == "polish" and not work.traces["polish"]["succeeded"], "and the trace says so")
    desk.certain(work)

# The provider fails in the middle: what was right by then is shipped.
class Fails(Slow):
    def __init__(self, step):
        super().__init__()
        self.step = step

    def faster(self, told):
        return self.step


for name, step in [("a web page", {"fault": "html"}), ("11 MB", {"fault": "big"}),
                   ("the key is withdrawn", {"status": 401, "message": "invalid x-api-key", "kind": "authentication_error"})]:
    desk.name = name
    done, requests, folder, _ = desk.talk(None, "--proposer", "llm", respond=Fails(step))
    report = desk.report(folder)
    check(done.returncode == 0 and report["passed"] and "provider failed" in str(report["report"]["warnings"]), "ships", done)
    check(len(report["models"]["ledger"]["calls"]) == 2 and "cost" in done.stdout, "the cost so far is shown", done)
    check(not desk.has_text(folder, KEY), "without the key")

# A provider that fails before the first kernel fails the stage that asked, even if that is the interview.
desk.name = "fails in the interview"
done, requests, folder, _ = desk.talk([{"status": 401, "message": "no", "kind": "authentication_error"}], "--proposer", "llm",
                                      "--prompt", "as zestful as can be")
report = desk.report(folder)
check(done.returncode in (2, 3) and report["failed_stage"] == "interview" and "authentication" in report["failure_reason"], "is said", done)

# A key the vendor does not know, for every vendor: said, and not repeated.
for wire, model in WIRES.items():
    desk.name = "wrong key over " + wire
    done, requests, folder, _ = desk.talk([], "--proposer", "llm", "--model-id", model, env={"KW_TEST_KEY": "sk-wrong-00ff"})
    report = desk.report(folder)
    check(done.returncode in (2, 3) and report["failed_stage"] == "codegen" and len(requests) == 1, "asked once", done)
    check("sk-wrong" not in done.stdout + done.stderr and not desk.has_text(folder, "sk-wrong"), "the key is not shown", done)
    check(report["report"]["total_cost_usd"] == 0, "and costs nothing: %s" % report["report"]["total_cost_usd"])

desk.finish()
