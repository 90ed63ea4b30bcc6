"""synthesize and tune on a real GPU: measured, paired, certified; a run made without one gets its times."""
import json
import os
import sys

from common import Jobs, NO_GPU, RMS_NORM, skip

h = Jobs(sys.argv[1])
for name in NO_GPU:
    del h.environment[name]
if h.run("doctor", "--has", "gpu").returncode != 0:
    skip("no GPU")
TORCH = h.run("doctor", "--has", "torch").returncode == 0
SHAPE = ["--dim", "B=16384", "--dim", "D=1024"]


def measured(report, what):
    performance = report["performance"]
    h.check(report["passed"] and report["measured"], "%s: it is measured" % what)
    h.check(performance["time_us"] > 0 and performance["estimate_us"] is None, "%s: a time, no estimate" % what)
    h.check(performance["achieved_gbps"] > 0 and 0 < performance["of_floor"] < 1.5, "%s: held against the floor" % what)
    h.check(performance["regs_per_thread"] > 0 and performance["spill_bytes"] >= 0, "%s: registers are known" % what)
    timed = [one for one in report["search"]["candidates"] if one["measured_us"]]
    h.check(len(timed) > 1, "%s: several were on the clock" % what)
    certified = [one for one in timed if one["certified"]]
    h.check(len(certified) == 1, "%s: one is the winner" % what)
    if certified:
        best = min(one["measured_us"] for one in timed)
        h.check(certified[0]["measured_us"] <= 1.1 * best, "%s: the winner is among the fastest" % what)
    print("measured: %s %.2f us, %.0f %% of the floor, %d candidates per hour" % (
        what, performance["time_us"], 100 * performance["of_floor"], report["search"]["judged_per_hour"] or 0))


def searched():
    words = ["--versus", "eager,compile"] if TORCH else ["--versus", "none"]
    done = h.synthesize(RMS_NORM, *SHAPE, *words, "--time", "15s", "--goal", "2", "--json", timeout=600)
    h.check(done.returncode == 0, "a search on the GPU", done)
    report = json.loads(done.stdout)
    measured(report, "rms_norm")
    h.check(report["correctness"]["certified"] or report["correctness"]["below"], "it is certified, or says where it was not judged")
    if TORCH:
        performance = report["performance"]
        h.check(performance["speedup_vs_reference"] > 0 and performance["speedup_vs_torch_compile"] > 0,
                "compared with PyTorch: %s" % performance["baselines"])
        h.check(performance["below_target"] in (True, False), "the target is judged")


def tuned():
    done = h.synthesize(RMS_NORM, *SHAPE, "--versus", "none", "--device", "vgpu", "--json")
    report = json.loads(done.stdout)
    h.check(done.returncode == 0 and not report["measured"], "a run without the GPU", done)
    folder = report["artifacts_dir"]
    before = h.added(folder)
    done = h.run("tune", folder, "--time", "20s", "--json", timeout=600)
    h.check(done.returncode == 0, "tune measures it", done)
    measured(json.loads(done.stdout), "tuned rms_norm")
    h.check(h.added(folder) == before, "nothing new is proposed")
    h.check(os.path.exists(os.path.join(folder, "final", "kernel.cubin")), "the winner's cubin is there")


searched()
tuned()
h.finish()
