#!/usr/bin/env python3
"""Import reads C++ as a compiler does: fragments of launchers are compiled by the host's compiler and imported, and the launches
of the plan are those of the program, at many sizes. A fragment may also be refused, and a size may be outside the plan's domain.

Usage: host_code_test.py KERNELWRIGHT [NAME]. Exit 77: no g++ here. The fragments are in host_code_cases.py.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

import host_code_cases

SIZES = [1, 2, 3, 4, 5, 7, 8, 17, 33, 64, 100, 255, 256, 257, 300, 1000, 4097, 65536, 70000, 16777217, 16777219, 100000001]
MOST_TURNS = 64
KERNEL = """__global__ void k(const float* x, float* y, int n, long long m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * m;
}
"""
STAND_INS = """#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
static void note(dim3 grid, dim3 block, int, long long m) { std::printf("%d,%d,%lld;", (int)grid.x, (int)block.x, m); }
"""
TOKEN = re.compile(r"\s*(0x[0-9a-fA-F]+|\d+|[A-Za-z_]\w*|&&|\|\||==|!=|<=|>=|[-+*/%<>!(),])")
LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))


class Outside(Exception):
    """The plan has no value here."""


def divided(a, b):
    if b == 0:
        raise Outside
    share = abs(a) // abs(b)
    return share if (a < 0) == (b < 0) else -share


APPLY = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": divided, "%": lambda a, b: a - b * divided(a, b),
         "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b),
         ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b)}


class Expression:
    """An expression of a plan as a tree that is evaluated lazily."""

    def __init__(self, text):
        self.tokens, self.at = TOKEN.findall(text), 0
        self.tree = self.binary(0)
        if self.at != len(self.tokens):
            raise ValueError(text)

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        tree = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            tree = (self.next(), tree, self.binary(level + 1))
        return tree

    def unary(self):
        word = self.next()
        if word in "-!":
            return ("unary" + word, self.unary())
        if word == "(":
            tree = self.binary(0)
            self.next()
            return tree
        if word[0].isdigit():
            return int(word, 0)
        if self.peek() != "(":
            return word
        self.next()
        parts = [self.binary(0)]
        while self.next() == ",":
            parts.append(self.binary(0))
        return (word, *parts)

    def value(self, names):
        return self.evaluate(self.tree, names)

    def evaluate(self, tree, names):
        if isinstance(tree, int):
            return tree
        if isinstance(tree, str):
            return {"true": 1, "false": 0}.get(tree) if tree in ("true", "false") else names[tree]
        word, parts = tree[0], tree[1:]
        if word in ("&&", "||"):
            left = bool(self.evaluate(parts[0], names))
            return int(left if left == (word == "||") else bool(self.evaluate(parts[1], names)))
        if word == "pick":
            return self.evaluate(parts[1 + self.evaluate(parts[0], names)], names)
        values = [self.evaluate(part, names) for part in parts]
        if word in ("min", "max"):
            return min(values) if word == "min" else max(values)
        if word == "ceil_div":
            return divided(values[0], values[1]) + int(values[0] % values[1] > 0 and values[0] > 0)
        if word.startswith("unary"):
            return -values[0] if word == "unary-" else int(not values[0])
        value = APPLY[word](*values)
        if not -2**63 <= value < 2**63:
            raise Outside
        return value


def clause(line, word):
    """The parts between the parentheses of a clause."""
    start = re.search(r"\b" + word + r"\(", line).end()
    parts, depth = [""], 1
    for c in line[start:]:
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return parts
        if c == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += c
    raise ValueError(line)


class Plan:
    def __init__(self, module):
        self.groups, repeat = [(None, [])], None
        for line in module.splitlines():
            if not line.startswith("//!"):
                continue
            word, rest = (line[3:].split(None, 1) + [""])[:2]
            if word == "when":
                self.groups.append((Expression(rest), []))
            elif word == "repeat":
                name, first, end = re.match(r"(\w+) in (.*)\.\.(.*)", rest).groups()
                repeat = (name, Expression(first), Expression(end), [])
                self.groups[-1][1].append(repeat)
            elif word == "end":
                repeat = None
            elif word == "launch":
                launch = [Expression(text) for text in (clause(line, "grid")[0], clause(line, "block")[0], clause(line, "args")[3])]
                (repeat[3] if repeat else self.groups[-1][1]).append(launch)

    def launches(self, size):
        names = {"N": size}
        chosen = [steps for when, steps in self.groups if steps and (when is None or when.value(names))]
        if not chosen:
            raise Outside
        out = []
        for step in chosen[0]:
            if isinstance(step, list):
                out.append(tuple(one.value(names) for one in step))
                continue
            name, first, end, launches = step
            first, end = first.value(names), end.value(names)
            if end - first > MOST_TURNS:
                raise Outside
            for turn in range(first, end):
                out += [tuple(one.value({**names, name: turn}) for one in launch) for launch in launches]
        if any(not 1 <= grid < 2**31 or not 1 <= block <= 1024 for grid, block, _ in out):
            raise Outside
        return out


def source(row):
    return f'#include <cuda_runtime.h>\n{KERNEL}{row[1]}\nextern "C" void solve(const float* x, float* y, int N) {{\n  {row[2]}\n}}\n'


def imported(kernelwright, folder, number, row):
    """The module, or None where the fragment is refused."""
    path = os.path.join(folder, f"row{number}.cu")
    with open(path, "w") as file:
        file.write(source(row))
    answer = subprocess.run([kernelwright, "import", path, "--input", "x:fp32[N]", "--input", "y:fp32[N]"], capture_output=True, text=True, timeout=60)
    if answer.returncode not in (0, 1, 2):
        sys.exit(f"{row[0]}: import ends with {answer.returncode}\n{answer.stderr}")
    return answer.stdout if answer.returncode == 0 else None


def with_notes(row):
    """The fragment for the host's compiler: launches are noted."""
    text = "\n".join(line if line.startswith("#define") else re.sub(r"k<<<(.*?)>>>\(x, y, ", r"note(\1, ", line)
                     for line in f"{row[1]}\nvoid solve(const float* x, float* y, int N) {{ {row[2]} }}".splitlines())
    return re.sub(r"note\((.*?)\b(dim3\b)?(, [^;]*?)\);", r"note(\1\2\3);", text)


def compiled(folder, rows):
    """One program of all fragments, each in a namespace: prints the launches of row argv[1], a line for each further word's size."""
    main = "\nint main(int c, char** v) { for (int i = 2; i < c; ++i) { const int which = std::atoi(v[1]), size = std::atoi(v[i]); if (false) {}\n"
    text = STAND_INS
    for number, row in enumerate(rows):
        words = re.findall(r"#define (\w+)", row[1])
        text += f"namespace row{number} {{\nusing std::ceil; using std::max;{'' if ' min(' in row[1] else ' using std::min;'} using std::floor;\n{with_notes(row)}\n}}\n"
        text += "".join(f"#undef {word}\n" for word in words)
        main += f"  else if (which == {number}) row{number}::solve(nullptr, nullptr, size);\n"
    path, program = os.path.join(folder, "all.cpp"), os.path.join(folder, "all")
    with open(path, "w") as file:
        file.write(text + main + '  std::puts(""); std::fflush(stdout); } }\n')
    answer = subprocess.run(["g++", "-std=c++17", "-O0", "-w", "-fpermissive", path, "-o", program], capture_output=True, text=True)
    if answer.returncode:
        sys.exit("the fragments do not compile:\n" + answer.stderr[:3000])
    return program


def of_program(program, number):
    """What the program launches at each size; None where a launch is impossible."""
    answer = subprocess.run([program, str(number), *map(str, SIZES)], capture_output=True, text=True, timeout=60)
    out = []
    for line in answer.stdout.splitlines():
        launches = [tuple(int(value) for value in launch.split(",")) for launch in line.split(";") if launch]
        out.append(None if any(not 1 <= grid < 2**31 for grid, _, _ in launches) else launches)
    return out


def problem(program, number, row, module):
    """What is wrong with a fragment; "" for nothing."""
    if module is None:
        return "is everyday code and was refused" if row[0] in host_code_cases.MUST_IMPORT else ""
    plan, within = Plan(module), 0
    for size, real in zip(SIZES, of_program(program, number)):
        try:
            planned = plan.launches(size)
        except Outside:
            continue
        within += 1
        if real is not None and real != planned:
            return f"launches {real[:4]} at N={size}, and by its plan {planned[:4]}"
    if within < len(SIZES) // 2 and row[0] in host_code_cases.MUST_IMPORT:
        return "is everyday code, and most sizes are outside its domain"
    return ""


def main():
    kernelwright, only = sys.argv[1], sys.argv[2:]
    if not shutil.which("g++"):
        print("SKIPPED: no g++ here")
        sys.exit(77)
    rows = [row for row in host_code_cases.ROWS if not only or row[0] in only]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        program = pool.submit(compiled, folder, rows)
        modules = list(pool.map(lambda one: imported(kernelwright, folder, *one), enumerate(rows)))
        program = program.result()
        said = list(pool.map(lambda one: problem(program, one[0], *one[1]), enumerate(zip(rows, modules))))
    for row, text, module in zip(rows, said, modules):
        if text:
            print(f"{row[0]}: {text}\n{row[1]}\n{row[2]}\n" + "\n".join(line for line in (module or "").splitlines() if line.startswith("//!")))
        elif only:
            print(f"{row[0]}: " + ("imported" if module else "refused"))
    failed = sum(1 for text in said if text)
    taken = sum(1 for module in modules if module)
    print(f"{len(rows)} fragments: {taken} imported, {len(rows) - taken} refused, {failed} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
