"""Operators without a model, on the virtual GPU: they beat the first generated kernel, the same seed gives the same journal, and a
process that was killed is taken up where its journal ends. KW_LONG=1 does so with a task that takes longer to compile, and asks two
more whether they end better; KERNELWRIGHT_WIDE=1 evolves every task of the internal suite; names of some, commas between, those.

    builtin.py KERNELWRIGHT
"""
import json
import os
import signal
import subprocess
import sys
import time

from common import INTERNAL, Evolutions

jobs = Evolutions(sys.argv[1])
check = jobs.check
SMALL = ["--generations", "2", "--proposals", "6", "--hardware", "3", "--seed", "7", "--proposer", "builtin"]
LONG = os.environ.get("KW_LONG", "") == "1"
TIGHT = "cumsum_lastdim_fp32"  # its first kernel is short of registers; clang does not count them, and then it looks best from the start


def improves(tasks, words):
    """How many end better than they began, by the estimate every search ranks by."""
    better = 0
    for task in tasks:
        done = jobs.evolve(os.path.join(INTERNAL, task), *words, "--json")
        evolution = jobs.evolution(done)
        if not evolution:
            continue
        curve = evolution["curve"]
        check(curve and curve[0]["id"] == evolution["first"], f"{task}: the curve begins with the first candidate: {curve}")
        check(all(a["us"] > b["us"] and a["proposals"] <= b["proposals"] for a, b in zip(curve, curve[1:])), f"{task}: {curve}")
        check(not evolution["measured"] and not any(point["measured"] for point in curve), f"{task}: estimates are called that")
        gain = curve[0]["us"] / curve[-1]["us"]
        better += gain > 1.005
        print(f"{task}: {gain:.3f}x after {curve[-1]['proposals']} of {evolution['proposals_made']} proposals", flush=True)
    return better


def whole(task):
    """One evolution and everything it leaves behind."""
    done = jobs.evolve(task, *SMALL, "--json")
    evolution = jobs.evolution(done)
    report = json.loads(done.stdout)
    folder = jobs.newest()
    correctness = report["correctness"]
    judged = correctness["certified"] or correctness["incomplete"] and correctness["below"]
    check(report["passed"] and judged and not correctness["replay_seeded"], "the winner is judged with fresh inputs", done)
    check(report["performance"]["time_us"] is None and report["performance"]["estimate_us"] > 0, "no time without a clock")
    check(evolution["proposals_made"] == 12 and evolution["generations_done"] == 2, f"{evolution}")
    check(evolution["curve"][0]["us"] > 1.005 * evolution["curve"][-1]["us"], "it beats the first candidate: %s" % evolution["curve"])
    check(evolution["niches"] and {"bound", "schedule", "resources"} <= set(evolution["niches"][0]), "niches are told")
    check(evolution["unseen_shapes"], "shapes it was not tuned for were tried")
    for row in evolution["unseen_shapes"]:
        check(row["problem"] or (row["us"] > 0 and not row["measured"] and row["relative"] > 0), f"{row}")
        check(row["flagged"] == bool(row["relative"] and row["relative"] < 1 / 1.1), f"{row}")
    readme = open(os.path.join(folder, "final", "README.md")).read()
    check("best so far, by proposals" in readme and "kernelwright evolve" in readme, "the curve is in the README")
    judged = jobs.run("verify", os.path.join(folder, "final", "kernel.cu"), "--reference", task, "--device", "vgpu",
                      "--compiler", jobs.chosen(), "--cross-check", "never", "--family", "normal", "--budget-seconds", "1")
    check(judged.returncode == 0, "what was shipped is right", judged)
    return folder


def same_by_seed(task, folder):
    again = jobs.evolve(task, *SMALL)
    check(again.returncode == 0 and "best so far, by proposals" in again.stdout, "people see the curve", again)
    check(jobs.journal(folder) == jobs.journal(jobs.newest()), "the same seed, the same journal")
    twin = jobs.newest()
    compared = jobs.run("evolve", "compare", folder, twin, "--json")
    check(compared.returncode == 0, "two runs are compared", compared)
    rows = json.loads(compared.stdout)["comparison"]["runs"]
    check(rows[0]["best_us"] == rows[1]["best_us"] and rows[0]["best_us_after"] == rows[1]["best_us_after"], f"{rows}")
    check("|---|" in json.loads(compared.stdout)["markdown"], "as Markdown, too")
    page = os.path.join(twin, "comparison.html")
    os.remove(page)
    os.mkdir(page)  # the page cannot be written now
    compared = jobs.run("evolve", "compare", folder, twin, "--json")
    check(compared.returncode == 0 and json.loads(compared.stdout)["page"] is None, "also where no page can be written", compared)
    os.rmdir(page)


def killed(task, folder):
    """kill -9 in the middle, twice; then the journal is that of a run without a stop."""
    words = [jobs.binary, "evolve", task, "--device", "vgpu", "--target", "sm_90", "--cross-check", "never", "--versus", "none",
             "--budget-seconds", "1", "--compiler", jobs.chosen(), *SMALL]
    before = set(jobs.runs())
    process = subprocess.Popen(words, env=jobs.environment, cwd=jobs.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run = None
    for stop in (4, 9):
        deadline = time.time() + 600
        while time.time() < deadline:
            fresh = [one for one in jobs.runs() if one not in before]
            run = fresh[0] if fresh else None
            if run and os.path.exists(os.path.join(run, "events.jsonl")):
                with open(os.path.join(run, "events.jsonl"), "rb") as file:
                    if file.read().count(b'"event":"seen"') >= stop:
                        break
            if process.poll() is not None:
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if stop == 4:
            process = subprocess.Popen([jobs.binary, "evolve", "--resume", run], env=jobs.environment, cwd=jobs.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = jobs.run("evolve", "--resume", run, "--json")
    check(done.returncode == 0, "it continues", done)
    check(jobs.journal(run)[:-1] == jobs.journal(folder)[:-1], "as if it had not been stopped")
    more = jobs.run("evolve", "--resume", run, "--generations", "3", "--json")
    evolution = json.loads(more.stdout)["evolution"]
    check(more.returncode == 0 and evolution["proposals_made"] == 18, "and on, for another generation", more)


def islands_and_arms(task):
    done = jobs.evolve(task, "--generations", "2", "--proposals", "4", "--islands", "2", "--verifiers", "off", "--proposer", "builtin",
                       "--profile-feedback", "off", "--seed", "3", "--json")
    evolution = jobs.evolution(done)
    check(evolution["verifier"] == "off" and evolution["islands"] == 2, f"{evolution}")
    check(evolution["counts"]["judged"] > 0, "candidates without a review are judged")
    check(all(row["bound"] == "unknown" for row in evolution["niches"]), "without evidence the bound of a kernel is unknown")


def arms_compared(task):
    done = jobs.evolve(task, "--generations", "1", "--proposals", "2", "--hardware", "2", "--proposer", "builtin", "--compare", "--json")
    document = json.loads(done.stdout)
    rows = document["comparison"]["runs"]
    check(done.returncode == 0 and len(rows) == 4 and all(one["passed"] for one in document["runs"]), "four evolutions", done)
    check([row["verifiers"] for row in rows] == [False, True, True, True], f"{rows}")
    check([row["profile_feedback"] for row in rows] == [False, False, False, True], f"{rows}")
    with open(document["page"], encoding="utf-8") as file:
        page = file.read()
    check(document["page"] == os.path.join(document["runs"][-1]["folder"], "comparison.html"), "the page is in the last run's folder")
    check(page.count("<path ") == 4 and "add_relu_fp32" in page and "<script" not in page and "http" not in page, "curves on a page that needs nothing else")
    check(len({row["first_us"] for row in rows}) == 1 and document["comparison"]["after_proposals"] == [1, 2], "all begin alike")


WIDE = os.environ.get("KERNELWRIGHT_WIDE", "")
if WIDE:
    names = sorted(os.listdir(INTERNAL)) if WIDE == "1" else WIDE.split(",")
    count = improves(names, ["--generations", "4", "--proposals", "6", "--seed", "1", "--proposer", "builtin"])
    print(f"{count} of {len(names)} end better than they began")
    check(count >= 10, "at least ten")
    jobs.finish()
if LONG:
    check(improves(["argmax_fp32", "geglu_fp16"], SMALL) == 2, "it beats the first candidate")
else:
    check(improves([TIGHT], SMALL) == 1 or jobs.chosen() == "clang", "also where registers are short")
    arms_compared(os.path.join(INTERNAL, "add_relu_fp32"))
TASK = os.path.join(INTERNAL, "layernorm_fp16" if LONG else "geglu_fp16")
RUN = whole(TASK)
same_by_seed(TASK, RUN)
killed(TASK, RUN)
islands_and_arms(TASK)
jobs.finish()
