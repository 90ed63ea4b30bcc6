"""Every header compiles alone: it includes what it uses, itself or through headers of ours.

headers.py SRC [COMPILER]. Without a compiler, only names of the standard library are checked, by a table in which every standard name that a
header uses must have a row. With one, every header is also compiled alone, with the standard library parsed once.
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
    "algorithm": "min max fill equal copy copy_n sort find any_of all_of clamp ranges", "array": "array", "atomic": "atomic",
    "bit": "bit_cast endian countl_zero popcount", "chrono": "chrono", "cmath": "fabs abs exp exp2 lgamma sqrt floor isnan",
    "condition_variable": "condition_variable", "cstdlib": "getenv atof", "cstddef": "byte nullptr_t size_t ptrdiff_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t", "cstring": "memcpy memset memcmp", "ctime": "clock clock_t",
    "deque": "deque", "filesystem": "filesystem", "fstream": "ifstream ofstream ios", "functional": "function", "future": "future promise async", "initializer_list": "initializer_list",
    "iterator": "forward_iterator distance", "limits": "numeric_limits", "list": "list", "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_shared make_unique", "mutex": "mutex lock_guard unique_lock",
    "new": "bad_alloc", "optional": "optional nullopt", "random": "mt19937", "set": "set multiset",
    "span": "span", "sstream": "stringstream ostringstream istringstream", "stdexcept": "logic_error runtime_error",
    "string": "string to_string", "string_view": "string_view", "thread": "thread", "tuple": "tuple tie",
    "type_traits": "is_same_v underlying_type_t is_enum_v is_arithmetic_v is_trivially_copyable_v decay_t invoke_result_t is_class_v"
    " is_convertible_v is_floating_point_v is_integral_v conditional_t remove_cvref_t",
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
TESTS = "gtest/gtest.h"
# From any of these.
ANYWHERE = {"size": "cstddef", "to_string": "string", "size_t": "cstddef"}
USES = {name: header for header, names in STANDARD.items() for name in names.split()}
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"', re.S)

src, compiler = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
districts = sorted(path for path in src.iterdir() if path.is_dir())
places = {str(path.relative_to(district)): path for district in districts for path in district.rglob("*") if path.is_file()}


def text_of(header):
    return places[header].read_text()


@functools.lru_cache(None)
def includes(header):
    """Of one header of ours: headers of ours, and others."""
    text = text_of(header)
    ours = {name for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M) if name in places}
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
    text = COMMENTS.sub(" ", text_of(header))
    used = set(re.findall(r"\bstd::(\w+)", text)) | set(re.findall(r"(?<![\w:])(u?int(?:8|16|32|64)_t)\b", text))
    there = standard_headers(header)
    problems = []
    for name in sorted(used):
        wanted = USES.get(name) or ANYWHERE.get(name)
        if wanted is None:
            problems.append(f"std::{name} has no row in the table of {pathlib.Path(__file__).name}")
        elif wanted not in there and name not in ANYWHERE:
            problems.append(f"std::{name} needs #include <{wanted}>")
    if re.search(r"\btesting::|\b(?:EXPECT|ASSERT|TEST|ADD_FAILURE|FAIL|SUCCEED|GTEST)(?:_\w+)?\b", text) and TESTS not in there:
        problems.append(f"GoogleTest's names need #include <{TESTS}>")
    return problems


def compile_alone(folder, header):
    return subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-O0", "-Wall", "-Wextra", "-Winvalid-pch", "-include", str(folder / "standard.h"),
         *(f"-I{folder}" for folder in districts), "-x", "c++", "-"], input=f'#include "{header}"\n', text=True, capture_output=True)


headers = sorted(name for name in places if name.endswith(".h"))
problems = [(header, problem) for header in headers for problem in missing(header)]
if compiler:
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        wanted = set().union(*(includes(header)[1] for header in headers))
        (folder / "standard.h").write_text("".join(f"#include <{header}>\n" for header in [*STANDARD, TESTS] if header in wanted))
        subprocess.run([compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-x", "c++-header", str(folder / "standard.h"), "-o",
                        str(folder / "standard.h.gch")], check=True)
        for header, run in zip(headers, pool.map(functools.partial(compile_alone, folder), headers)):
            if run.returncode != 0:
                problems.append((header, run.stderr))
for header, problem in problems:
    print(f"{header} does not compile alone: {problem}")
print(f"{len(headers)} headers, {len(problems)} problems")
sys.exit(len(problems) > 0)
