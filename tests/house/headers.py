"""Every header compiles alone: it includes what it uses, itself or through headers of ours.

headers.py SRC COMPILER. The standard library's part of that is looked up in a table, in which every standard name a header
uses must have a row; ours is compiled, with the standard library there already: parsing it anew for each of hundreds of
headers would take minutes. One compilation serves several headers where each includes the one before it: what stands there
first is what the next would have included anyway.
"""
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# A standard header and the names (of namespace std) that a header of ours may use for its sake.
STANDARD = {
    "algorithm": "min max fill equal copy copy_n sort find any_of all_of clamp", "array": "array", "atomic": "atomic",
    "bit": "bit_cast endian countl_zero popcount", "chrono": "chrono", "cmath": "fabs abs lgamma sqrt floor isnan",
    "condition_variable": "condition_variable", "cstdlib": "getenv atof", "cstddef": "byte nullptr_t size_t ptrdiff_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t", "cstring": "memcpy memset memcmp",
    "deque": "deque", "filesystem": "filesystem", "fstream": "ifstream ofstream ios", "functional": "function", "future": "future promise async", "initializer_list": "initializer_list",
    "iterator": "forward_iterator distance", "limits": "numeric_limits", "list": "list", "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_shared make_unique", "mutex": "mutex lock_guard unique_lock",
    "new": "bad_alloc", "optional": "optional nullopt", "random": "mt19937", "set": "set multiset",
    "span": "span", "sstream": "stringstream ostringstream istringstream", "stdexcept": "logic_error runtime_error",
    "string": "string to_string", "string_view": "string_view", "thread": "thread", "tuple": "tuple tie",
    "type_traits": "is_same_v underlying_type_t is_enum_v is_arithmetic_v is_trivially_copyable_v decay_t invoke_result_t",
    "unordered_map": "unordered_map", "utility": "move pair swap exchange forward", "variant":
    "variant get get_if holds_alternative monostate in_place_index visit", "vector": "vector",
}
# What a standard header gives beside its own names, by the standard or as everybody's library has always done.
ALSO = {
    "string": "string_view initializer_list", "vector": "initializer_list", "map": "utility", "unordered_map": "utility",
    "memory": "utility", "functional": "utility", "optional": "utility", "variant": "utility", "tuple": "utility",
    "array": "utility", "algorithm": "utility", "span": "array cstddef", "set": "utility", "thread": "", "mutex": "utility",
    "fstream": "string", "sstream": "string", "list": "utility", "deque": "utility", "cstring": "cstddef", "bit": "",
    "stdint.h": "cstdint", "stddef.h": "cstddef", "gtest/gtest.h": "string vector memory utility cstdint",
}
# From any of these.
ANYWHERE = {"size": "cstddef", "to_string": "string", "size_t": "cstddef"}
USES = {name: header for header, names in STANDARD.items() for name in names.split()}
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"', re.S)

src, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]


@functools.lru_cache(None)
def includes(header):
    """Of one header of ours: headers of ours, and others."""
    text = (src / header).read_text()
    ours = {name for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M) if (src / name).exists()}
    return ours, set(re.findall(r"^\s*#\s*include <([^>]+)>", text, re.M))


def standard_headers(header):
    """All it includes, itself or through ours."""
    seen, open_ = set(), [header]
    found = set()
    while open_:
        at = open_.pop()
        if at in seen:
            continue
        seen.add(at)
        ours, others = includes(at)
        open_ += ours
        found |= others
    for name in list(found):
        found |= set(ALSO.get(name, "").split())
    return found


def missing(header):
    text = COMMENTS.sub(" ", (src / header).read_text())
    used = set(re.findall(r"\bstd::(\w+)", text)) | set(re.findall(r"(?<![\w:])(u?int(?:8|16|32|64)_t)\b", text))
    there = standard_headers(header)
    problems = []
    for name in sorted(used):
        wanted = USES.get(name) or ANYWHERE.get(name)
        if wanted is None:
            problems.append(f"std::{name} has no row in the table of {pathlib.Path(__file__).name}")
        elif wanted not in there and name not in ANYWHERE:
            problems.append(f"std::{name} wants #include <{wanted}>")
    return problems


@functools.lru_cache(None)
def closure(header):
    """What it includes of ours, at any depth, and itself."""
    return frozenset([header]).union(*(closure(name) for name in includes(header)[0] if name.endswith(".h")))


def chains(headers):
    """All headers, each once, in lists where every one includes the one before it."""
    left, made = set(headers), []
    for header in sorted(headers, key=lambda name: (-len(closure(name)), name)):
        chain = []
        while header in left:
            left.remove(header)
            chain.insert(0, header)
            header = max(closure(header) & left, key=lambda name: (len(closure(name)), name), default=None)
        made += [chain] if chain else []
    return made


def compile_alone(folder, chain):
    return chain, subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-O0", "-Wall", "-Wextra", "-Winvalid-pch", "-include",
         str(folder / "standard.h"), "-I", str(src), "-x", "c++", "-"],
        input="".join(f'#include "{header}"\n' for header in chain), text=True, capture_output=True)


headers = sorted(str(path.relative_to(src)) for path in src.rglob("*.h"))
with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    folder = pathlib.Path(name)
    (folder / "standard.h").write_text("".join(f"#include <{header}>\n" for header in STANDARD))
    subprocess.run([compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-x", "c++-header", str(folder / "standard.h"), "-o",
                    str(folder / "standard.h.gch")], check=True)
    problems = [(header, problem) for header in headers for problem in missing(header)]
    for chain, run in pool.map(functools.partial(compile_alone, folder), chains(headers)):
        if run.returncode != 0:
            problems.append((", ".join(chain), run.stderr))
for header, problem in problems:
    print(f"{header} does not stand alone: {problem}")
print(f"{len(headers)} headers, {len(problems)} times one does not stand alone")
sys.exit(len(problems) > 0)
