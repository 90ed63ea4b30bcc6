"""bench, compare and calibrate on a real GPU: one line per kernel of bench/judge, verdicts that must hold."""
import json
import os
import re
import sys

from harness import Harness, ROOT, skip

h = Harness(sys.argv[1], own_cache=True)
if h.run("doctor", "--has", "gpu").returncode != 0:
    skip("no GPU")
if h.run("doctor", "--has", "nvrtc").returncode != 0 and h.run("doctor", "--has", "nvcc").returncode != 0:
    skip("no compiler that makes cubins (NVRTC or nvcc)")
JUDGE = os.path.join(ROOT, "bench", "judge")
ROWS = {"B": 16384, "D": 1024}
CASES = {"rms_norm": ROWS, "softmax": ROWS, "row_sum": ROWS, "axpb": {"N": 1 << 24}}


def bench(*words, code=0):
    done = h.run("bench", *words, "--json", timeout=500)
    h.check(done.returncode == code, "exit %d of bench %s" % (code, words), done)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {}


done = h.run("calibrate", "--json")
h.check(done.returncode == 0, "calibrate", done)
ceiling = json.loads(done.stdout)
print("measured: calibrate read %.0f GB/s, fp32 %.1f T/s" % (
    ceiling["read_gbps"], max(p["tera"] for p in ceiling["peaks"] if p["precision"] == "fp32")))
for name, dims in CASES.items():
    module, reference = os.path.join(JUDGE, name + ".cu"), os.path.join(JUDGE, name + ".py")
    if not os.path.exists(module):
        continue
    report = bench(module, "--reference", reference, "--dims", json.dumps(dims), "--quick")
    timing = report.get("candidate", {}).get("timing")
    h.check(timing is not None, "%s was timed: %s" % (name, report.get("candidate", {}).get("problem")))
    if timing is None:
        continue
    h.check(timing["audited_calls"] > 0, name + ": every timed call was audited")
    h.check(report["percent_of_floor"] < 115, "%s: %.0f %% of the floor is too good" % (name, report["percent_of_floor"]))
    print("measured: %-10s %8.2f us (%s), %5.1f %% of floor, noise %.2f %%, gate %.2f s, timing %.2f s, prepare %.2f s" % (
        name, timing["median_us"], timing["method"], report["percent_of_floor"], 100 * timing["relative_noise"],
        report["seconds"]["gate"], report["seconds"]["timing"], report["seconds"]["prepare"]))

module, reference = os.path.join(JUDGE, "softmax.cu"), os.path.join(JUDGE, "softmax.py")
report = bench(module, "--reference", reference, "--dims", json.dumps(ROWS), "--versus", module)
rivals = report.get("rivals", [])
h.check(bool(rivals) and rivals[0].get("comparison", {}).get("verdict") in ("SAME", "AMBIGUOUS"),
        "a module is not faster than itself: %s" % rivals)
h.check(report.get("certified") is True, "three fresh processes make a certified time")
done = h.run("compare", module, module, "--dims", json.dumps(ROWS), "--quick")
h.check(done.returncode == 0 and re.search(r"outputs: the same bits", done.stdout) is not None, "compare", done)
if h.run("doctor", "--has", "torch").returncode == 0:
    report = bench(module, "--reference", reference, "--dims", json.dumps(ROWS), "--quick", "--versus", "eager")
    rival = report.get("rivals", [{}])[0]
    print("measured: softmax against eager: %s" % (rival.get("comparison") or rival.get("problem")))
h.finish()
