"""Every header compiles alone: it includes what it uses, itself or through headers of ours.

headers.py SRC COMPILER. The standard library's part of that is looked up in a table, in which every standard name a header
uses must have a row; ours is compiled, with the standard library there already: parsing it anew for each of hundreds of
headers would take minutes. One compilation serves many headers where what stands there first can be of no help to the
next: it includes that anyway, or says no word that could mean what is declared there.
"""
import collections
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
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t", "cstring": "memcpy memset memcmp",
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
# Words that are never names of ours: std's, whatever stands before them, and the language's.
FOREIGN = re.compile(r"\bstd::(?:\w+::)*\w+|\b(?:u?int(?:8|16|32|64)_t|size_t)\b")
WORDS = set("alignas auto bool char class const constexpr default delete double enum extern float if inline int long noexcept "
            "operator short static static_assert struct template typename union unsigned using void std kw".split())
# What stands before a name that is declared is a type, and none of these.
NOT_TYPES = ("and case class co_await co_return co_yield concept const constexpr delete do else enum explicit extern friend goto "
             "inline mutable namespace new not operator or return static struct throw typename union using virtual volatile")
DECLARED_HERE = re.compile(rf"\b(?!(?:{NOT_TYPES.replace(' ', '|')})\b)(\w+[>&*]*\s+)(?:[A-Za-z_]\w*)(?=\s*[,;)={{([:])(?!\s*::)")
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"', re.S)

src, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
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


@functools.lru_cache(None)
def closure(header):
    """What it includes of ours, at any depth, and itself."""
    return frozenset([header]).union(*(closure(name) for name in includes(header)[0] if name.endswith(".h")))


@functools.lru_cache(None)
def outline(text):
    """What stands at namespace scope: no bodies of functions and classes, and no parameters but operators'."""
    out, inside, head = [], [], ""
    for word in re.findall(r"\w+|\s+|.", text, re.S):
        if word in "})" and inside:
            inside.pop()
        if not any(inside):
            out.append(";" if word == "}" else word)
        if word == "(":
            inside.append("operator" not in head)
        elif word == "{":
            inside.append(not re.search(r"\bnamespace\b|\bextern\s*$|\benum\s+(?!class|struct)", head))
        head = "" if word in ";{}" else head + word
    return "".join(out)


@functools.lru_cache(None)
def plain(header):
    """Its text without comments, strings and the standard library's names."""
    return FOREIGN.sub(" 0 ", COMMENTS.sub(" ", text_of(header)))


@functools.lru_cache(None)
def declared(header):
    """The names a header of ours gives to those that include it, and perhaps a few more."""
    text = plain(header)
    names = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
    for statement in re.split(r"[;{]", outline(re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M))):
        if re.match(r"\s*(?:inline\s+)?namespace\b", statement):
            continue
        if re.search(r"\boperator\b", statement):
            names |= set(re.findall(r"\w+", statement))
        statement = re.sub(r"(\benum\b[^:]*):.*", r"\1", statement, flags=re.S)
        names |= set(re.findall(r"\b(?:struct|class|enum|union|using|concept)\s+(?:class\s+|struct\s+)?(\w+)", statement))
        names |= set(re.findall(r"(\w+)\s*(?:[(=,[]|$)", statement))
    return {name for name in names - WORDS if not name[0].isdigit()}


@functools.lru_cache(None)
def spaces(header):
    """The namespaces its names are in; none where that cannot be told by looking."""
    text = plain(header)
    found = re.findall(r"^namespace (\w+(?:::\w+)*) \{", text, re.M)
    simple = len(found) == len(re.findall(r"\bnamespace\b", text)) and not re.search(r"#\s*define\b|\bextern\b", text)
    return set(found) if simple else set()


@functools.lru_cache(None)
def qualifiers(header):
    """The last parts of all its namespaces."""
    return set(re.findall(r"\bnamespace\s+(?:\w+::)*(\w+)", plain(header)))


@functools.lru_cache(None)
def used(header):
    """The words of a header that may be names from elsewhere, those of them that are called, and by qualifier those that
    have one. Members, and names of what is declared right there, are not looked up."""
    text = re.sub(r"^\s*#\s*(?:include|pragma)[^\n]*", " ", plain(header), flags=re.M)
    text = DECLARED_HERE.sub(r"\1 0 ", re.sub(r"(?<!\.)(?:\.|->)\s*[A-Za-z_]\w*", " ", text))
    calls, qualified = set(re.findall(r"(?<![\w>])::\s*(\w+)", text)), collections.defaultdict(set)
    calls |= set(re.findall(r"(?<!::)\b(\w+)\s*\(", text))
    for qualifier, word in re.findall(r"(\w+)\s*::\s*(?:template\s+)?(?=(\w+))", text):
        qualified[qualifier].add(word)
    return set(re.findall(r"(?<!::)\b\w+", text)) - WORDS, calls - WORDS, qualified


@functools.lru_cache(None)
def known(header):
    """The types that what it includes defines, by namespace: no other header defines those, and their names need no help."""
    types = collections.defaultdict(set)
    for name in closure(header) - {header}:
        if len(spaces(name)) == 1:
            text = outline(plain(name))
            types[min(spaces(name))] |= set(re.findall(r"\b(?:struct|class|enum|union)\s+(?:class\s+)?(\w+)[^;()]*\{", text))
    return types


def helps(other, header):
    """Whether a word of the header could mean what the other declares: one in a namespace around it, a function that is
    found by its arguments, or a name that is qualified with the other's namespace."""
    words, calls, qualified = used(header)
    there, here = spaces(other), spaces(header)
    if there and here and not any(f"{inner}::".startswith(f"{outer}::") for inner in here for outer in there):
        words = calls
    words = words.union(*(qualified[name] for name in qualifiers(other) & qualified.keys()))
    if len(there) == 1:
        words = words - known(header)[min(there)]
    return not words.isdisjoint(declared(other))


def groups(headers):
    """All headers, each once, in lists where those before one give it nothing that it does not include."""
    made = []
    for header in sorted(headers, key=lambda name: (not spaces(name), len(closure(name)), name)):
        for seen, group in made:
            if not any(helps(other, header) for other in seen - closure(header)):
                group.append(header)
                seen |= closure(header)
                break
        else:
            made.append((set(closure(header)), [header]))
    return [group for _, group in made]


def compile_alone(folder, group):
    return group, subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-O0", "-Wall", "-Wextra", "-Winvalid-pch", "--param",
         "ggc-min-heapsize=1000000", "-include", str(folder / "standard.h"), *(f"-I{folder}" for folder in districts), "-x", "c++", "-"],
        input="".join(f'#include "{header}"\n' for header in group), text=True, capture_output=True)


headers = sorted(name for name in places if name.endswith(".h"))
with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    folder = pathlib.Path(name)
    wanted = set().union(*(includes(header)[1] for header in headers))
    (folder / "standard.h").write_text("".join(f"#include <{header}>\n" for header in [*STANDARD, TESTS] if header in wanted))
    subprocess.run([compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-x", "c++-header", str(folder / "standard.h"), "-o",
                    str(folder / "standard.h.gch")], check=True)
    problems = [(header, problem) for header in headers for problem in missing(header)]
    for group, run in pool.map(functools.partial(compile_alone, folder), groups(headers)):
        if run.returncode != 0:
            problems.append((", ".join(group), run.stderr))
for header, problem in problems:
    print(f"{header} does not stand alone: {problem}")
print(f"{len(headers)} headers, {len(problems)} times one does not stand alone")
sys.exit(len(problems) > 0)
