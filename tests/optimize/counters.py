"""What the virtual GPU counts, held against Nsight Compute's counters of the same call on a real GPU.

counters.py KERNELWRIGHT [NAME...]. Every kernel runs once on either side with the same shapes and inputs. Sectors of global memory must
agree within 2 %, bank conflicts of shared memory within 10 % (or within 1 % of all wavefronts, which is what hardware counts where
accesses of several warps meet); instructions are shown as a ratio, because one side executes PTX and the other machine code. NCU names the profiler.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECTORS, CONFLICTS, SPECKS = 0.02, 0.10, 0.01

# Module, its kernels, what run needs.
CASES = [
    ("plain/softmax", ["softmax"], ["--dims", '{"B": 256, "D": 2048}']),
    ("plain/layernorm", ["layernorm"], ["--dims", '{"B": 256, "D": 2048}']),
    ("plain/batchnorm", ["channel_mean", "channel_variance", "normalise"], ["--dims", '{"N": 8, "C": 32, "H": 28, "W": 28}']),
    ("plain/transpose", ["transpose"], ["--dims", '{"M": 512, "N": 768}']),
    ("plain/reduction", ["add_piece", "add_pieces"], ["--dim", "N=1000000"]),
    ("plain/histogram", ["count"], ["--dim", "N=300000", "--input", "x=uniform:1:0..255"]),
    ("plain/scan", ["scan"], ["--dims", '{"B": 64, "D": 2048}']),
    ("plain/gemm", ["gemm"], ["--dims", '{"M": 256, "N": 256, "K": 256}']),
    ("planted/bank_padding", ["turn"], ["--dims", '{"M": 512, "N": 512}', "--tune", "PAD=0"]),
    ("planted/coalesced", ["shift"], ["--dim", "N=1000000", "--tune", "NEAR=0"]),
]
NCU = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "load_wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store_wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "instructions": "smsp__inst_executed.sum",
}


def run(words, timeout=300):
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def virtual(binary, module, words):
    done = run([binary, "run", module, *words, "--device", "vgpu", "--target", "sm_90", "--seed", "1", "--counters", "--json"])
    if done.returncode != 0:
        raise RuntimeError("virtual GPU: " + (done.stdout + done.stderr)[-800:])
    counted = {}
    for launch in json.loads(done.stdout)["counters"]:
        counted[re.sub(r"<.*", "", launch["kernel"])] = launch["total"]
    return counted


def rows_of(text):
    """Rows of a raw page by column, without the profiler's own lines and the row of units."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise RuntimeError("ncu: " + text[-800:])
    table = list(csv.DictReader(lines[start:]))
    return [row for row in table if row["ID"].strip()]


def measured(ncu, binary, module, kernels, words):
    ask = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--target-processes", "all",
           "-k", "regex:^(" + "|".join(kernels) + ")$", "--metrics", ",".join(NCU.values())]
    done = run([*ask, binary, "run", module, *words, "--device", "gpu", "--seed", "1", "--json"])
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        skip("this user may not read the GPU's counters")
    counted = {}
    for row in rows_of(done.stdout):
        values = {name: float((row.get(metric) or "nan").replace(",", "")) for name, metric in NCU.items()}
        counted[re.split(r"[<(]", row["Kernel Name"])[0].split("::")[-1].strip()] = values
    return counted


def near(here, there, share):
    return here == there or abs(here - there) <= share * max(abs(here), abs(there))


def ratio(here, there):
    return "%.3f" % (here / there) if there else ("-" if not here else "inf")


def compare(name, kernel, ours, theirs):
    """One line, and what is out of bounds."""
    conflicts = theirs["conflicts"]
    wavefronts = theirs["load_wavefronts"] + theirs["store_wavefronts"]
    problems = []
    for what in ("load", "store"):
        here, there = ours["global_%s_sectors" % what], theirs[what + "_sectors"]
        if not near(here, there, SECTORS):
            problems.append("%s sectors: %d counted, %d measured" % (what, here, there))
    ours_conflicts = ours["shared_bank_conflicts"]
    if not near(ours_conflicts, conflicts, CONFLICTS) and abs(ours_conflicts - conflicts) > SPECKS * wavefronts:
        problems.append("bank conflicts: %d counted, %d measured" % (ours_conflicts, conflicts))
    print("{:22} {:18} {:>12} {:>7} {:>12} {:>7} {:>11} {:>11} {:>7}  {}".format(
        name, kernel, int(theirs["load_sectors"]), ratio(ours["global_load_sectors"], theirs["load_sectors"]), int(theirs["store_sectors"]),
        ratio(ours["global_store_sectors"], theirs["store_sectors"]), ours_conflicts, int(conflicts),
        ratio(ours["warp_instructions"], theirs["instructions"]), "; ".join(problems) or "agrees"), flush=True)
    return len(problems)


def main():
    binary = os.path.abspath(sys.argv[1])
    ncu = os.environ.get("NCU") or shutil.which("ncu")
    if run([binary, "doctor", "--has", "gpu"]).returncode != 0 and not os.environ.get("NCU"):
        skip("no GPU")
    if not ncu:
        skip("no ncu")
    print("{:22} {:18} {:>12} {:>7} {:>12} {:>7} {:>11} {:>11} {:>7}".format(
        "module", "kernel", "load sectors", "ours", "store sect.", "ours", "conflicts", "measured", "instr."))
    wrong = seen = 0
    for name, kernels, words in CASES:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        module = str(HERE / name / "kernel.cu")
        try:
            ours, theirs = virtual(binary, module, words), measured(ncu, binary, module, kernels, words)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            print(f"{name:22} {problem}")
            wrong += 1
            continue
        for kernel in kernels:
            seen += 1
            if kernel in ours and kernel in theirs:
                wrong += compare(name, kernel, ours[kernel], theirs[kernel]) > 0
            else:
                wrong += 1
                print(f"{name:22} {kernel}: not {'counted' if kernel not in ours else 'profiled'}")
    print(f"{seen} kernels, {wrong} disagree")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
