"""Memory and descriptors of a long eval: eval_memory.py KERNELWRIGHT [TASKS] makes a suite of so many tasks (500), evaluates it on the
virtual GPU with one candidate each, and prints, for each tenth of them, the least resident memory and the most open descriptors of the process."""
import glob
import os
import subprocess
import sys
import tempfile
import time

BINARY, TASKS = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500
REFERENCE = '''import torch

def task%d(x: "fp32[N]"):
    return x * %d.0 + 1.0
'''


def state(pid):
    with open("/proc/%d/status" % pid) as file:
        rss = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return rss / 1024, len(os.listdir("/proc/%d/fd" % pid))


with tempfile.TemporaryDirectory() as folder:
    suite, out = os.path.join(folder, "suite"), os.path.join(folder, "out")
    os.mkdir(suite)
    for number in range(TASKS):
        with open(os.path.join(suite, "task%03d.py" % number), "w") as file:
            file.write(REFERENCE % (number, number % 7 + 2))
    words = [BINARY, "eval", "--suite", suite, "--out", out, "--device", "vgpu", "--candidates", "1", "--cross-check", "never", "--quick",
             "--versus", "none", "--dim", "N=1000"]
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    rows, step = [], max(1, TASKS // 10)
    least, most = float("inf"), 0
    while process.poll() is None:
        done = len(glob.glob(os.path.join(out, "**", "report.json"), recursive=True))
        try:
            rss, descriptors = state(process.pid)
        except (OSError, StopIteration):
            break
        least, most = min(least, rss), max(most, descriptors)
        if done >= (len(rows) + 1) * step:
            rows.append((done, least, most))
            print("%4d tasks: %6.1f MB, %3d descriptors, %6.1f s" % (done, least, most, time.monotonic() - begin), flush=True)
            least, most = float("inf"), 0
        time.sleep(0.05)
    print(process.stdout.read().decode()[-600:])
    if len(rows) >= 4:
        (_, early, few), (_, late, many) = rows[len(rows) // 4], rows[-1]
        print("from a quarter to the end: memory %+.1f %%, descriptors %+d" % (100 * (late / early - 1), many - few))
    sys.exit(process.returncode not in (0, 1))
