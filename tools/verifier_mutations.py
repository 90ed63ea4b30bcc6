"""Ways to change a kernel module: bugs that people and models write, harmless rewrites, and defensive code.

A mutation is a function from the text of a module to all changed texts, one per place. The label is not decided here: most bugs
break a module, some have no effect at their place, and only the judge can decide.
"""
import re

BUG, HARMLESS, DEFENSIVE = "bug", "harmless", "defensive"
MUTATIONS = []  # (name, kind, function), in the order written


def mutation(name, kind=BUG):
    def add(function):
        MUTATIONS.append((name, kind, function))
        return function
    return add


def device_code(text):
    """Where the device code begins: after the last plan line."""
    last = text.rfind("//!")
    return text.find("\n", last) + 1


def in_comment(text, at):
    return "//" in text[text.rfind("\n", 0, at) + 1:at]


def replaced(text, pattern, new, flags=0):
    """Every text with one match in the device code replaced, comments apart; `new` is a replacement or a function of the match."""
    begin = device_code(text)
    out = []
    for match in re.finditer(pattern, text[begin:], flags):
        word = new(match) if callable(new) else match.expand(new)
        if word != match[0] and not in_comment(text, begin + match.start()):
            out.append(text[:begin + match.start()] + word + text[begin + match.end():])
    return out


def in_plan(text, pattern, new):
    """The same for the plan lines."""
    end = device_code(text)
    plan = text[:end]
    return [plan[:match.start()] + match.expand(new) + plan[match.end():] + text[end:] for match in re.finditer(pattern, plan, re.M)]


def bodies(text):
    """Offsets just inside the opening brace of every kernel."""
    found = []
    for match in re.finditer(r"__global__", text[device_code(text):]):
        at = text.find("{\n", device_code(text) + match.start())
        if at >= 0:
            found.append(at + 2)
    return found


def parameters(text, body):
    """Names of the pointers of the kernel whose body begins there."""
    head = text[text.rfind("__global__", 0, body):body]
    return re.findall(r"\*\s*(?:__restrict__\s+)?(\w+)", head)


def inserted(text, line):
    """`line` (a function of text and body) at the beginning of one kernel."""
    out = []
    for body in bodies(text):
        new = line(text, body)
        if new:
            out.append(text[:body] + "  " + new + "\n" + text[body:])
    return out


# --- mutations that do not compile

@mutation("syntax_error")
def syntax_error(text):
    return replaced(text, r";\n(\s+(?:const|float|row|y|out))", r"\n\1") + replaced(text, r"\) \{\n(\s+const)", r" {\n\1")


@mutation("unknown_identifier")
def unknown_identifier(text):
    return replaced(text, r"(?<=[+\-*(\[ ])(row_\w+|column|own_row|count|thread|total_?\d*)(?=[ );\]])", r"\1_idx")


@mutation("unknown_function")
def unknown_function(text):
    return replaced(text, r"\b(expf|rsqrtf|sqrtf|tanhf|fmaxf|fabsf|__half2float|__float2half|logf|erff|load_pack|store_pack)(?=[<(])", r"\1_approx32")


@mutation("wrong_type")
def wrong_type(text):
    return replaced(text, r"const float (\w+) =", r"const float* \1 =") + replaced(text, r"const Index (\w+) =", r"const Index2 \1 =")


@mutation("missing_header")
def missing_header(text):
    return replaced(text, r"#include <[^>]+>\n", "")


@mutation("undeclared_macro")
def undeclared_macro(text):
    return replaced(text, r"\b(THREADS|LANES|UNROLL|VEC)\b(?!_)", lambda m: m[1].lower().capitalize() + "PerBlock")


@mutation("missing_template_argument")
def missing_template_argument(text):
    return in_plan(text, r"^(//! launch\s+\w+<)(int|long long), ", r"\1")


@mutation("missing_launch_argument")
def missing_launch_argument(text):
    return in_plan(text, r"^(//! launch .*args\(.*), \w+\)$", r"\1)")


@mutation("too_many_threads")
def too_many_threads(text):
    return in_plan(text, r"^(//! launch .*block\()(THREADS\w*)\)", r"\1\2 * 64)")


# --- memory

@mutation("dropped_bounds_check")
def dropped_bounds_check(text):
    return (replaced(text, r"\n\s*if \(\w+ >= [^)\n]+\) return;", "") + replaced(text, r"if \((\w+ < (?:count|D|rows|B|n|N))\)", "if (true)") +
            replaced(text, r"\(kWhole \|\| column < D\)", "(true)") + replaced(text, r" && own_row < rows", ""))


@mutation("off_by_one_bound")
def off_by_one_bound(text):
    return (replaced(text, r"(\w+) >= ([^)\n]+)\) return;", r"\1 > \2) return;") + replaced(text, r"if \((\w+) < (count|rows|B)\)", r"if (\1 <= \2)") +
            replaced(text, r"(column|\bk|\bi|own_row) < (D|rows|count)\b", r"\1 <= \2"))


@mutation("missing_barrier")
def missing_barrier(text):
    return replaced(text, r"\n\s*__syncthreads\(\);", "")


@mutation("divergent_barrier")
def divergent_barrier(text):
    return replaced(text, r"__syncthreads\(\);", "if (threadIdx.x < 16) __syncthreads();")


@mutation("shared_memory_too_small")
def shared_memory_too_small(text):
    return replaced(text, r"(__shared__ [^;\n]*\[[^\];\n]*)\]", r"\1 / 2]")


@mutation("uninitialised_accumulator")
def uninitialised_accumulator(text):
    return replaced(text, r"((?:float|double|int|Index|long long) \w+) = (?:0\.0f|0|-__int_as_float\(0x7f800000\)|1\.0f);", r"\1;")


@mutation("swapped_indices")
def swapped_indices(text):
    return replaced(text, r"D \* (\w+) \+ (\w+)", r"D * \2 + \1")


@mutation("wrong_stride")
def wrong_stride(text):
    return replaced(text, r"\bD \* (row|i0|own_row)\b", r"(D + 1) * \1")


@mutation("dropped_alignment_guard")
def dropped_alignment_guard(text):
    return in_plan(text, r"^(//! when\s+)\S+ % VEC\w* == 0 && ", r"\1") + in_plan(text, r"^(//! when\s+)\([^)]*\) % VEC\w* == 0 && ", r"\1")


@mutation("write_next_element")
def write_next_element(text):
    return replaced(text, r"store_pack\((\w+ \+ )", r"store_pack(\1kVec + ") + replaced(text, r"\n(\s+\w+)\[(D \* i0 \+ i1|i0|i|row)\] = ", r"\n\1[\2 + 1] = ")


# --- launches

@mutation("short_grid")
def short_grid(text):
    return in_plan(text, r"^(//! launch .*grid\()ceil_div\(([^,()]+), ([^()]+)\)\)", r"\1max(1, (\2) / (\3)))")


@mutation("one_block_short")
def one_block_short(text):
    return in_plan(text, r"^(//! launch .*grid\()(?!max)(.*?)\) block", r"\1max(1, \2 - 1)) block")


@mutation("swapped_dims")
def swapped_dims(text):
    return in_plan(text, r"^(//! launch .*args\(.*)B, D\)$", r"\1D, B)")


@mutation("half_a_block")
def half_a_block(text):
    return in_plan(text, r"^(//! launch .*block\()(THREADS\w*)\)", r"\1\2 / 2)")


# --- numerics

@mutation("wrong_reduction")
def wrong_reduction(text):
    return (replaced(text, r"(reduce_\w+<\w+>\(\w+, )Add\(\)", r"\1Larger()") if "struct Larger" in text else []) + \
        replaced(text, r"(\n\s+\w*(?:sum|total)\w*) \+= ", r"\1 -= ") + replaced(text, r"return a > b \|\|", "return a < b ||") + \
        replaced(text, r"max\.NaN\.f32", "min.NaN.f32")


@mutation("wrong_identity")
def wrong_identity(text):
    return replaced(text, r"((?:float|double) \w*(?:sum|total|best|max)\w*) = (?:0\.0f|0);", r"\1 = 1.0f;") + \
        replaced(text, r"-__int_as_float\(0x7f800000\)", "0.0f") + replaced(text, r"(?<!-)__int_as_float\(0x7f800000\)", "0.0f")


@mutation("accumulates_in_half")
def accumulates_in_half(text):
    if "cuda_fp16.h" not in text:
        return []
    return replaced(text, r"(\n\s+)(row_\w+|total\w*|\w*sum\w*) \+= ([^;]+);", r"\1\2 = __half2float(__float2half(\2 + (\3)));")


@mutation("accumulates_in_float")
def accumulates_in_float(text):
    return replaced(text, r"\bdouble (total\w*)", r"float \1")


@mutation("not_stabilised")
def not_stabilised(text):
    return replaced(text, r" - (row_max|max_2\w*|max_2\[i0\])(?=\))", "") + replaced(text, r"\(\w+ - (row_mean|mean\w*)\)", "(0.0f)")


@mutation("partial_reduction")
def partial_reduction(text):
    return replaced(text, r"kLanes / 2; offset", "kLanes / 4; offset") + replaced(text, r"offset > 0; offset", "offset > 1; offset")


@mutation("coarse_constant")
def coarse_constant(text):
    return replaced(text, r"\b(\d\.\d{2})\d{3,}(f?)\b", r"\1\2")


@mutation("skipped_elements")
def skipped_elements(text):
    return replaced(text, r"column \+= (\w+ \* kVec)", r"column += 2 * \1") + replaced(text, r"(for \(Index k = )0;", r"\g<1>1;") + \
        replaced(text, r"(for \(int lane = )0;", r"\g<1>1;")


@mutation("missing_scale")
def missing_scale(text):
    return replaced(text, r" / static_cast<float>\(D\)", "") + replaced(text, r" \* inverse\b", "") + replaced(text, r" \* \(1\.0f / [^)]+\)", "")


@mutation("wrong_operator")
def wrong_operator(text):
    return replaced(text, r"(\w|\]|\)) \* (\w+_value\w*|\w+\[)", r"\1 + \2") + replaced(text, r"(\]|value\w*) \+ (\w+_pack|\w+_value)", r"\1 - \2") + \
        replaced(text, r"1\.0f \+ ", "1.0f - ")


@mutation("missing_absolute_or_root")
def missing_absolute_or_root(text):
    return replaced(text, r"\b(?:sqrtf|fabsf|rsqrtf)\(", "(")


# --- mutations that change nothing

@mutation("no_unrolling", HARMLESS)
def no_unrolling(text):
    return replaced(text, r"\n\s*#pragma unroll[^\n]*", "")


@mutation("other_name", HARMLESS)
def other_name(text):
    begin = device_code(text)
    names = sorted(set(re.findall(r"\b(row_sum|row_max|column|own_row|x_value|total_\d|i0)\b", text[begin:])))
    return [text[:begin] + re.sub(rf"\b{name}\b", f"my_{name}", text[begin:]) for name in names]


@mutation("extra_barrier", HARMLESS)
def extra_barrier(text):
    return replaced(text, r"(\n\s*)__syncthreads\(\);", r"\1__syncthreads();\1__syncthreads();")


# --- defensive code

@mutation("null_checks", DEFENSIVE)
def null_checks(text):
    def line(module, body):
        names = parameters(module, body)
        return f"if ({' || '.join(f'{name} == nullptr' for name in names)}) return;" if names else ""
    return inserted(text, line)


@mutation("impossible_exit", DEFENSIVE)
def impossible_exit(text):
    return inserted(text, lambda *_: "if (threadIdx.x >= blockDim.x || blockIdx.x >= gridDim.x) return;")


@mutation("asserts", DEFENSIVE)
def asserts(text):
    begin = device_code(text)
    with_header = text[:begin] + "#include <assert.h>\n" + text[begin:]
    return inserted(with_header, lambda *_: "assert(blockDim.x > 0 && blockDim.y == 1 && threadIdx.x < blockDim.x);")


@mutation("static_asserts", DEFENSIVE)
def static_asserts(text):
    return inserted(text, lambda *_: 'static_assert(sizeof(float) == 4 && sizeof(long long) == 8, "sizes are what they should be");')


@mutation("trap_if_impossible", DEFENSIVE)
def trap_if_impossible(text):
    return inserted(text, lambda *_: "if (blockDim.x == 0 || gridDim.x == 0) __trap();")


@mutation("doubled_guard", DEFENSIVE)
def doubled_guard(text):
    return replaced(text, r"if \((\w+) < (count|rows|B|D)\)", r"if (\1 >= 0 && \1 < \2 && \1 < \2 + 1)") + \
        replaced(text, r"if \((\w+) >= ([^)\n]+)\) return;", r"if (\1 < 0 || \1 >= \2) return;") + \
        replaced(text, r"\(kWhole \|\| column < D\)", "(column >= 0 && column < D)")


@mutation("worried_comments", DEFENSIVE)
def worried_comments(text):
    return inserted(text, lambda *_: "// Careful: possibly out of bounds, races, does not compile on some machines? Bounds are checked below, see there.")
