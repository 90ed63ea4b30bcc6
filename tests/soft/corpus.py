"""A sample of the shipped corpus judged again: the labels are what the judge says, with inputs of another seed. The first of every label of each
task, or all of them with KW_LONG=1."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

binary, root = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(root / "tests" / "cli"))
from harness import shared_cache  # noqa: E402

TASKS = ["vector_add_fp32", "softmax_lastdim_fp16", "sum_reduction_fp32"]
SEED = "20240"


def texts(rows):
    """Modules by entry: bases with their edits applied."""
    bases = {row["base"]: row["text"].split("\n") for row in rows if "text" in row}
    for row in rows:
        if "entry" not in row:
            continue
        lines = list(bases[row["base"]])
        for first, count, new in row.get("edits", []):
            lines[first:first + count] = new
        yield row, "\n".join(lines)


def few(sample):
    """The first of every label."""
    seen = collections.Counter()
    for row, text in sample:
        label = row["verdict"], row.get("stage")
        seen[label] += 1
        if seen[label] == 1:
            yield row, text


def main():
    environment = {**os.environ, "KERNELWRIGHT_LIBCUDA": "/nowhere/libcuda.so.1"}
    if cache := shared_cache(binary):
        environment["KERNELWRIGHT_CACHE"] = cache
    if subprocess.run([binary, "doctor", "--has", "nvrtc"], env=environment, capture_output=True).returncode != 0:
        print("skipped: there is no NVRTC")
        return 77
    rows = [json.loads(line) for line in (root / "src/search/review/verifier_corpus.jsonl").read_text().splitlines()]
    wrong = []
    for task in TASKS:
        sample = [(row, text) for row, text in texts(rows) if row["base"].rsplit(".", 1)[0] == task]
        if os.environ.get("KW_LONG") != "1":
            sample = list(few(sample))
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, (_, text) in enumerate(sample):
                paths.append(os.path.join(folder, f"{number:03d}.cu"))
                pathlib.Path(paths[-1]).write_text(text)
            done = subprocess.run([binary, "verify", *paths, "--reference", str(root / "suites/internal" / task), "--device", "vgpu", "--target", "sm_90",
                                   "--seed", SEED, "--budget-seconds", "2", "--cross-check", "never", "--json"], env=environment, capture_output=True, text=True)
        candidates = json.loads(done.stdout).get("candidates")
        if not candidates:
            print(done.stdout + done.stderr)
            return 1
        for (row, _), candidate in zip(sample, candidates):
            now = "right" if candidate["verdict"] == "passed" else "wrong"
            if now != row["verdict"] or (now == "wrong" and candidate.get("stage", "vgpu") != row["stage"]):
                wrong.append(f"{row['entry']}: {row['verdict']} {row.get('stage', '')}, judged {candidate['verdict']} {candidate.get('stage', '')}")
    print("\n".join(wrong) or f"{len(TASKS)} tasks: all labels are what the judge says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
