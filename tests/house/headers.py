"""Every header compiles alone.

headers.py SRC COMPILER [--together]: a header that some source includes before anything else is compiled alone by the
build itself, and so is the one which that header includes first; only the others are compiled here. Where the build
compiles sources together it proves nothing, and all of them are.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

src, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]


def first_include(path):
    """The header of ours which comes before everything else in this file, or None."""
    for line in path.read_text().splitlines():
        if re.match(r"\s*(//.*|#\s*pragma once)?$", line):
            continue
        include = re.match(r'\s*#\s*include "([^"]+)"', line)
        return include.group(1) if include else None
    return None


def compiled_by_the_build():
    proven = set()
    for source in src.rglob("*.cpp"):
        header = first_include(source)
        while header and header not in proven and (src / header).exists():
            proven.add(header)
            header = first_include(src / header)
    return proven


def compile_alone(header):
    return header, subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-O0", "-Wall", "-Wextra", "-I", str(src), "-x", "c++", "-"],
                                  input=f'#include "{header}"\n', text=True, capture_output=True)


proven = set() if "--together" in sys.argv else compiled_by_the_build()
headers = sorted(str(path.relative_to(src)) for path in src.rglob("*.h"))
rest = [header for header in headers if header not in proven]
failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for header, run in pool.map(compile_alone, rest):
        if run.returncode != 0:
            failed += 1
            print(f"{header} does not compile alone:\n{run.stderr}")
print(f"{len(headers)} headers, {len(rest)} of them compiled here; {failed} do not compile alone")
sys.exit(1 if failed else 0)
