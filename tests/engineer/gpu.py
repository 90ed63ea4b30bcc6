"""A model's kernels on a real GPU: judged, timed, held against the floor; the model is told what was measured.

    gpu.py KERNELWRIGHT
"""
import sys

from desk import Desk
from engineer import Boaster, Engineer, Slow

desk = Desk(sys.argv[1], size=1 << 24)
check = desk.check


def measured(work):
    performance = work.report["performance"]
    check(work.done.returncode == 0 and work.report["measured"], "ships, measured", work.done)
    check(performance["time_us"] > 0 and performance["estimate_us"] is None, "a time, no estimate")
    print("measured: %s: %.2f us, %.0f %% of the floor" % (desk.name, performance["time_us"], 100 * performance["of_floor"]))
    return {row["id"]: row["measured_us"] for row in work.report["search"]["candidates"] if row["measured_us"]}


engineer = Slow()
work = desk.work("slow", engineer, "--retries", "performance=2")
times = measured(work)
check(engineer.seen[:3] == ["codegen", "faster", "tools"], "vectorised after the hints: %s" % engineer.seen)
tries = [row for row in work.attempts if row["stage"] == "performance" and row["candidate"] in times]
slow = next(row["candidate"] for row in work.attempts if row["stage"] == "codegen")
check(tries and min(times[row["candidate"]] for row in tries) < 1.02 * times[slow], "no try that ships is slower: %s" % times)
asked = next(row["conversation"]["messages"][-1]["text"] for row in work.requests
             if "us" in row["conversation"]["messages"][-1]["text"] and "floor" in row["conversation"]["messages"][-1]["text"])
check("measured" in asked, "the model is told a measured time: " + asked[:600])

engineer = Engineer()
work = desk.work("beside the built-in", engineer, "--retries", "performance=1", proposer="hybrid", whole=False)
check(engineer.seen[0] == "improve", "it is shown the built-in's module: %s" % engineer.seen)
check(len(measured(work)) > 1, "both were on the clock")

work = desk.work("a boaster beside the built-in", Boaster(), "--retries", "performance=1", "--retries", "correctness=1", proposer="hybrid", whole=False)
measured(work)
check("VERIFIED on an H100" not in work.kernel, "the built-in's kernel ships")

desk.finish()
