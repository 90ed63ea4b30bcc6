"""Nsight Compute's counters beside the virtual GPU's, kernel by kernel, at shapes that both count whole. Needs a GPU whose counters may
be read; prints a table, as docs/profile.md has it. With --virtual only the virtual GPU's side, on any machine."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JUDGED = os.path.join(ROOT, "bench", "judge")
OWN = os.path.join(ROOT, "tests", "profile", "kernels")
PLAIN = os.path.join(ROOT, "tests", "optimize", "plain")
CASES = [(name, os.path.join(JUDGED, name + ".cu"), os.path.join(JUDGED, name + ".py"), {"B": 96, "D": 1024})
         for name in ("cumsum", "layer_norm", "log_softmax", "rms_norm", "row_sum", "softmax")]
CASES += [(name, os.path.join(JUDGED, name + ".cu"), os.path.join(JUDGED, name + ".py"), {"N": 65536})
          for name in ("axpb", "gelu", "silu_mul")]
CASES += [("matmul", os.path.join(JUDGED, "matmul.cu"), os.path.join(JUDGED, "matmul.py"), {"M": 64, "N": 64, "K": 128})]
CASES += [(name, os.path.join(OWN, name + ".cu"), os.path.join(OWN, name + ".py"), dims)
          for name, dims in (("turn_conflicts", {"M": 256, "N": 256}), ("pairs_conflicts", {"B": 512}))]
CASES += [("transpose", os.path.join(PLAIN, "transpose", "kernel.cu"), os.path.join(PLAIN, "transpose", "reference.py"), {"M": 256, "N": 256})]
SECTORS, CONFLICTS = 0.02, 0.10  # how far they may be apart
NOISE = 0.05  # of the passes: what hardware counts as conflicts where accesses of several warps meet


def profile(binary, module, reference, dims, device):
    done = subprocess.run([binary, "profile", module, "--reference", reference, "--dims", json.dumps(dims), "--device", device, "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        sys.exit("%s: no document: %s" % (module, done.stderr))
    if "evidence" not in document:
        sys.exit("%s: %s" % (module, document))
    return document["evidence"]


def value(metrics, name):
    return metrics.get(name, {}).get("value")


def main():
    binary, gpu = sys.argv[1], "--virtual" not in sys.argv
    if gpu and subprocess.run([binary, "doctor", "--has", "ncu-counters"], stdout=subprocess.DEVNULL).returncode != 0:
        print("skipped: there is no GPU whose counters may be read")
        sys.exit(77)
    failures = []
    print("| kernel | sectors loaded: vgpu, ncu | stored: vgpu, ncu | passes of shared memory: vgpu, ncu | conflicts: vgpu, ncu | instructions, ncu / vgpu |")
    print("|---|---|---|---|---|---|")
    for name, module, reference, dims in CASES:
        evidence = profile(binary, module, reference, dims, "gpu" if gpu else "vgpu")
        if evidence["scale"] != 1:
            failures.append("%s is counted at %s, not whole" % (name, evidence["counted_at"]))
        if gpu and not evidence["counters"]:
            failures.append("%s: %s" % (name, evidence["no_counters"]))
            continue
        launch = evidence["launches"][0]
        counted, measured = launch["counted"], launch["metrics"]
        cells = []
        for metric, apart in (("global_load_sectors", SECTORS), ("global_store_sectors", SECTORS), ("shared_wavefronts", None),
                              ("bank_conflicts", CONFLICTS)):
            ours, theirs = value(counted, metric), value(measured, metric)
            cells.append("%d, %s" % (ours, "?" if theirs is None else "%d" % theirs))
            room = 0 if apart is None else apart * ours + (NOISE * value(counted, "shared_wavefronts") if apart is CONFLICTS else 0)
            if gpu and apart is not None and (theirs is None or abs(ours - theirs) > room):
                failures.append("%s: %s are %s by the virtual GPU, %s by ncu" % (name, metric, ours, theirs))
        ratio = value(measured, "warp_instructions") / value(counted, "warp_instructions")
        print("| %s | %s | %.2f |" % (name, " | ".join(cells), ratio))
    for failure in failures:
        print("FAILED: " + failure)
    sys.exit(1 if failures else 0)


main()
