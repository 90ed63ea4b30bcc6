"""Every header compiles alone."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

src, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]


def compile_alone(path):
    run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-I", str(src), "-x", "c++", "-"],
                         input=f'#include "{path.relative_to(src)}"\n', text=True, capture_output=True)
    return path, run


failed = 0
headers = sorted(src.rglob("*.h"))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for path, run in pool.map(compile_alone, headers):
        if run.returncode != 0:
            failed += 1
            print(f"{path.relative_to(src)} does not compile alone:\n{run.stderr}")
print(f"{len(headers)} headers, {failed} do not compile alone")
sys.exit(1 if failed else 0)
