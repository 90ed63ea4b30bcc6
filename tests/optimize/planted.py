"""Kernels whose claims are known to be true or false: is every method put into its right class?

planted.py KERNELWRIGHT [NAME...]: those, or all; without a GPU one of each kind, unless KW_PLANTED_ALL is set, or with KW_LONG=1 some
more. With a GPU the classes must be those of expected.json. Without one nothing can be measured, so a method may only be unverified, or known to be missing; never
effective. KW_PLANTED_OUT keeps the run folders.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from harness import shared_cache  # noqa: E402

FEW = ["claimed_vector", "coalesced", "useless_hint"]
MORE = ["claimed_async_copy", "shuffles", "vector_half"]
COLUMNS = "{:22} {:34} {:22} {:22} {:>7}  {}"


def run(binary, *words):
    done = subprocess.run([binary, *words, "--json"], capture_output=True, text=True, timeout=300)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = {"error": {"message": (done.stdout + done.stderr)[-1000:]}}
    return done.returncode, document


def without(text):
    """The kernel with every method switched off, and no claims."""
    for name, value in re.findall(r"(\w+)=(-?\d+)", " ".join(re.findall(r"//! method .*, off (.*)", text))):
        def first(line, value=value):
            values = [one.strip() for one in line.group(2).split(",")]
            values.remove(value)
            return line.group(1) + ", ".join([value, *values])
        text = re.sub(r"(//! tune +%s in )([-\d, ]+)" % name, first, text)
    return re.sub(r"//! method .*\n", "", text)


def classify(binary, case, folder, words):
    kernel = (case / "kernel.cu").read_text()
    expected = json.loads((case / "expected.json").read_text())
    folder.mkdir(parents=True)
    baseline = folder / (case.name + ".cu")
    baseline.write_text(without(kernel))
    code, made = run(binary, "optimize", "setup", "--baseline", str(baseline), "--ref", str(case / "reference.py"), "--out", str(folder),
                     "--branches", "1", "--iterations", "1", "--quick", "--cross-check", "never", "--noise", "2", *words)
    if code != 0:
        return expected, {}, made
    where = ["--run-dir", made["run_dir"], "--iter", "1"]
    code, opened = run(binary, "optimize", "open-iter", *where, "--force")
    if code != 0:
        return expected, {}, opened
    iteration = pathlib.Path(made["run_dir"]) / "iterv1"
    (iteration / "branches" / "b1").mkdir(parents=True, exist_ok=True)
    (iteration / "branches" / "b1" / "kernel.cu").write_text(kernel)
    methods = [{"id": one, "evidence": ["planted"]} for one in expected]
    (iteration / "methods.json").write_text(json.dumps({"iter": 1, "methods": methods}))
    code, closed = run(binary, "optimize", "close-iter", *where, "--skip-validation")
    return expected, {one["id"]: one for one in closed.get("methods", [])}, closed


def allowed(expected, measured):
    if measured:
        return {expected}
    return {"unverified", "implementation_failed"} if expected == "implementation_failed" else {"unverified"}


def main():
    binary = os.path.abspath(sys.argv[1])
    names = sys.argv[2:]
    gpu = subprocess.run([binary, "doctor", "--has", "gpu"], capture_output=True).returncode == 0
    if not gpu and (cache := shared_cache(binary)):  # on a GPU the user's own calibration counts
        os.environ["KERNELWRIGHT_CACHE"] = cache
    compilers = [one for one in ("nvrtc", "nvcc", "clang")
                 if subprocess.run([binary, "doctor", "--has", one], capture_output=True).returncode == 0]
    if not compilers:
        print("skipped: no compiler for device code")
        return 77
    words = [] if gpu else ["--device", "vgpu"]
    if not gpu and not names and not os.environ.get("KW_PLANTED_ALL"):
        names = MORE if os.environ.get("KW_LONG") == "1" else FEW
    keep = os.environ.get("KW_PLANTED_OUT")
    root = pathlib.Path(keep or tempfile.mkdtemp(prefix="kw_planted_"))
    cases = sorted(one for one in (HERE / "planted").iterdir() if one.is_dir() and (not names or one.name in names))
    wrong, counted = 0, 0
    print(COLUMNS.format("case", "method", "expected", "found", "s", "why"))
    for case in cases:
        start = time.time()
        expected, found, document = classify(binary, case, root / case.name, words)
        seconds = time.time() - start
        for method, truth in expected.items():
            counted += 1
            one = found.get(method, {"class": "failed", "why": json.dumps(document.get("error", document))[:300]})
            right = one["class"] in allowed(truth, gpu)
            wrong += not right
            print(COLUMNS.format(case.name, method, truth, one["class"] + ("" if right else "  <--"), "%.1f" % seconds, one["why"]), flush=True)
    print(f"{counted} claims on {'the GPU' if gpu else 'the virtual GPU, nothing measured'}, {wrong} misclassified")
    if not keep:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if wrong or counted == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
