#!/usr/bin/env python3
"""The metric study with real kernels: every honest way to write an operation must pass the gate, no imposter may.

Writes kernel modules for operations x types x ways, sends them through `kernelwright verify`, and counts.
Usage: kernels.py KERNELWRIGHT [--device gpu|vgpu] [--ops sum,softmax] [--types fp32,fp16,bf16] [--report OUT.md]
Exit 0: none refused, none through; 1: otherwise; 77: cannot be tried here.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
TYPES = {"fp32": ("float", "x", "v"), "fp16": ("__half", "__half2float(x)", "__float2half_rn(v)"),
         "bf16": ("__nv_bfloat16", "__bfloat162float(x)", "__float2bfloat16_rn(v)")}

# How terms are added up. Every thread gets the sum; a block of 128 threads has one row.
SUMS = {
    "serial": "float acc = 0; if (threadIdx.x == 0) for (int i = 0; i < n; ++i) acc = ADD(acc, term(i));"
              " return share(acc);",
    "reversed": "float acc = 0; if (threadIdx.x == 0) for (int i = n - 1; i >= 0; --i) acc = ADD(acc, term(i));"
                " return share(acc);",
    "strided": "float acc = 0; for (int i = threadIdx.x; i < n; i += 128) acc = ADD(acc, term(i)); return tree(acc);",
    "split": "const int part = (n + 127) / 128; float acc = 0;"
             " const int end = min(n, (int)(threadIdx.x + 1) * part);"
             " for (int i = threadIdx.x * part; i < end; ++i) acc = ADD(acc, term(i)); return tree(acc);",
    "unrolled": "float a[4] = {0, 0, 0, 0}; for (int i = threadIdx.x; i < n; i += 512) for (int j = 0; j < 4; ++j)"
                " if (i + 128 * j < n) a[j] = ADD(a[j], term(i + 128 * j));"
                " return tree((a[0] + a[1]) + (a[2] + a[3]));",
    "compensated": "float acc = 0, lost = 0; for (int i = threadIdx.x; i < n; i += 128) {"
                   " const float v = __fsub_rn(term(i), lost), next = __fadd_rn(acc, v);"
                   " lost = __fsub_rn(__fsub_rn(next, acc), v); acc = next; } return tree(acc);",
    # imposters
    "dropped tail": "float acc = 0; for (int i = threadIdx.x; i < n - n / 8; i += 128) acc = ADD(acc, term(i));"
                    " return tree(acc);",
    "sampled": "float acc = 0; const int seen = (n + 3) / 4; for (int i = 4 * threadIdx.x; i < n; i += 512)"
               " acc = ADD(acc, term(i)); return tree(acc) * (float(n) / max(seen, 1));",
    "half accumulation": "__half acc = __float2half_rn(0); if (threadIdx.x == 0) for (int i = 0; i < n; ++i)"
                         " acc = __float2half_rn(__half2float(acc) + term(i)); return share(__half2float(acc));",
}
HONEST_SUMS = ("serial", "reversed", "strided", "split", "unrolled", "compensated")
FALSE_SUMS = ("dropped tail", "sampled", "half accumulation")

PRELUDE = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef {ctype} T;
__device__ float raw({ctype} x) {{ return {load}; }}
__device__ float get({ctype} x) {{ const float v = raw(x); return {inside}; }}
__device__ {ctype} put(float v) {{ return {store}; }}
#define ADD(a, b) {add}
#define EXP(v) {exp}
#define RSQRT(v) {rsqrt}
#define DIV(a, b) {div}
__device__ float share(float v) {{
  __shared__ float s;
  __syncthreads();
  if (threadIdx.x == 0) s = v;
  __syncthreads();
  return s;
}}
__device__ float tree(float v) {{
  __shared__ float s[128];
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {{
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }}
  return s[0];
}}
__device__ float tree_max(float v) {{
  __shared__ float s[128];
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {{
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }}
  return s[0];
}}
template <class F> __device__ float sum(int n, F term) {{ {sum} }}
"""
ALL = "for (int i = threadIdx.x; i < D; i += 128)"
FUNCTIONS = {"exact": {"exp": "expf(v)", "rsqrt": "(1.0f / sqrtf(v))", "div": "((a) / (b))"},
             "approx": {"exp": "__expf(v)", "rsqrt": "rsqrtf(v)", "div": "__fdividef(a, b)"}}


class Op:
    def __init__(self, name, reference, body, weights=(), per_row=False, functions=False, products=False, others=None,
                 imposters=None):
        self.name, self.reference, self.body, self.weights, self.per_row = name, reference, body, weights, per_row
        self.functions, self.products, self.others, self.imposters = functions, products, others or {}, imposters or {}
        self.sums = "sum(" in body


VAR = "const float mean = sum(D, [&](int i) { return get(r[i]); }) / D;" \
      " const float var = sum(D, [&](int i) { const float d = get(r[i]) - mean; return MUL(d, d); }) / D;"
# Every thread over its part, then pairs of parts: one thread over a whole row drifts (docs/error-bound.md).
WELFORD = "float m = 0, q = 0, c = 0; " + ALL + " { const float v = get(r[i]), d = v - m; c += 1; m += d / c;" \
          " q += d * (v - m); } __shared__ float ms[128], qs[128], cs[128]; ms[threadIdx.x] = m; qs[threadIdx.x] = q;" \
          " cs[threadIdx.x] = c; __syncthreads(); for (int k = 64; k > 0; k /= 2) { if (threadIdx.x < k) {" \
          " const int a = threadIdx.x, b = a + k; const float n = cs[a] + cs[b], d = ms[b] - ms[a]; if (cs[b] > 0) { ms[a] += d * (cs[b] / n);" \
          " qs[a] += qs[b] + d * d * (cs[a] * cs[b] / n); cs[a] = n; } } __syncthreads(); }" \
          " const float mean = ms[0], var = qs[0] / D;"
ONE_PASS = "const float mean = sum(D, [&](int i) { return get(r[i]); }) / D; const float var = fmaxf(0.0f," \
           " sum(D, [&](int i) { const float v = get(r[i]); return MUL(v, v); }) / D - mean * mean);"
TOP = "float top = -INFINITY; " + ALL + " top = fmaxf(top, get(r[i])); top = tree_max(top);"
NORMED = ALL + " o[i] = put((get(r[i]) - mean) * RSQRT(var + 1e-5f) * get(w[i]) + get(b[i]));"
SOFT = " const float total = sum(D, [&](int i) { return EXP(get(r[i]) - top); }); "
SOFTENED = ALL + " o[i] = put(DIV(EXP(get(r[i]) - top), total));"
ONLINE = "float top = -INFINITY, total = 0; " + ALL + " { const float v = get(r[i]), m = fmaxf(top, v);" \
         " total = total * EXP(top - m) + EXP(v - m); top = m; }" \
         " const float all = tree_max(top); total = tree(top == -INFINITY ? 0.0f : total * EXP(top - all)); top = all; "
OPS = [
    Op("sum", "return x.sum(-1)", "o[0] = put(sum(D, [&](int i) { return get(r[i]); }));", per_row=True),
    Op("square_sum", "return (x.float() * x.float()).sum(-1).to(x.dtype)",
       "o[0] = put(sum(D, [&](int i) { const float v = get(r[i]); return MUL(v, v); }));", per_row=True, products=True),
    Op("var", "return x.var(-1)", VAR + " o[0] = put(var * D / (D - 1));", per_row=True, products=True,
       others={"Welford": WELFORD + " o[0] = put(var * D / (D - 1));"},
       imposters={"one-pass variance": ONE_PASS + " o[0] = put(var * D / (D - 1));",
                  "another formula": VAR + " o[0] = put(var);"}),
    Op("rms_norm", "return F.rms_norm(x, (x.shape[-1],), w, 1e-5)",
       "const float q = sum(D, [&](int i) { const float v = get(r[i]); return MUL(v, v); }) / D; "
       + ALL + " o[i] = put(get(r[i]) * RSQRT(q + 1e-5f) * get(w[i]));", weights=("w",), functions=True, products=True,
       imposters={"weight ignored": "const float q = sum(D, [&](int i) { const float v = get(r[i]); return v * v; }) / D; "
                  + ALL + " o[i] = put(get(r[i]) * RSQRT(q + 1e-5f));"}),
    Op("layer_norm", "return F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)", VAR + NORMED, weights=("w", "b"), functions=True,
       products=True, others={"Welford": WELFORD + NORMED}, imposters={"one-pass variance": ONE_PASS + NORMED}),
    Op("softmax", "return F.softmax(x, -1)", TOP + SOFT + SOFTENED, functions=True,
       others={"online": ONLINE + SOFTENED, "reciprocal": TOP + SOFT + "const float over = DIV(1.0f, total); "
               + ALL + " o[i] = put(EXP(get(r[i]) - top) * over);"},
       imposters={"no maximum": "const float top = 0;" + SOFT + SOFTENED}),
    Op("logsumexp", "return torch.logsumexp(x, -1)", TOP + SOFT + "o[0] = put(top + logf(total));", per_row=True, functions=True,
       others={"online": ONLINE + "o[0] = put(top + logf(total));"},
       imposters={"no maximum": "const float top = 0;" + SOFT + "o[0] = put(logf(total));"}),
    Op("silu", "return F.silu(x)", ALL + " { const float v = get(r[i]); o[i] = put(DIV(v, 1.0f + EXP(-v))); }", functions=True,
       others={"times sigmoid": ALL + " { const float v = get(r[i]); o[i] = put(v * DIV(1.0f, 1.0f + EXP(-v))); }"},
       imposters={"another function": ALL + " { const float v = get(r[i]); o[i] = put(v * fminf(fmaxf(v / 6 + 0.5f, 0), 1)); }"}),
    Op("gelu", "return F.gelu(x)", ALL + " { const float v = get(r[i]); o[i] = put(0.5f * v * (1 + erff(v * 0.70710678f))); }",
       others={"by erfc": ALL + " { const float v = get(r[i]); o[i] = put(0.5f * v * erfcf(v * -0.70710678f)); }",
               "by normcdf": ALL + " { const float v = get(r[i]); o[i] = put(v * normcdff(v)); }"},
       imposters={"another function": ALL + " { const float v = get(r[i]); o[i] = put(DIV(v, 1 + EXP(-1.702f * v))); }"}),
    Op("cumsum", "return x.cumsum(-1)",
       "if (threadIdx.x == 0) { float acc = 0; for (int i = 0; i < D; ++i) { acc += get(r[i]); o[i] = put(acc); } }",
       others={"blocked": "__shared__ float s[128]; float before = 0; for (int base = 0; base < D; base += 128) {"
               " const int i = base + threadIdx.x; s[threadIdx.x] = i < D ? get(r[i]) : 0; __syncthreads();"
               " for (int k = 1; k < 128; k *= 2) { const float add = threadIdx.x >= k ? s[threadIdx.x - k] : 0; __syncthreads();"
               " s[threadIdx.x] += add; __syncthreads(); } if (i < D) o[i] = put(before + s[threadIdx.x]);"
               " before += s[127]; __syncthreads(); }"},
       imposters={"half accumulation": "if (threadIdx.x == 0) { __half acc = __float2half_rn(0); for (int i = 0; i < D; ++i) {"
                  " acc = __float2half_rn(__half2float(acc) + get(r[i])); o[i] = put(__half2float(acc)); } }"}),
    Op("linear", "return F.linear(x, w)",
       "for (int k = 0; k < K; ++k) { const float v = sum(D, [&](int i) { return MUL(get(r[i]), get(w[k * D + i])); });"
       " if (threadIdx.x == 0) o[k] = put(v); }", weights=("w[K, D]",), products=True),
]


def ways(op, dtype):
    """(name, honest, settings) of every way to write the operation that means something for it."""
    plain = {"sum": "strided", "functions": "exact", "add": "((a) + (b))", "mul": "((a) * (b))", "inside": "v",
             "body": op.body}
    found = [("plain", True, plain)]
    if op.sums:
        found += [(name, True, {**plain, "sum": name}) for name in HONEST_SUMS if name != "strided"]
        found += [(name, False, {**plain, "sum": name}) for name in FALSE_SUMS]
    if op.products:
        found.append(("no fused multiply-add", True, {**plain, "add": "__fadd_rn(a, b)", "mul": "__fmul_rn(a, b)"}))
    if op.functions:
        found.append(("approximate functions", True, {**plain, "functions": "approx"}))
    for name, body in op.others.items():
        found.append((name, True, {**plain, "body": body}))
        if op.functions:
            found.append((name + ", approximate", True, {**plain, "body": body, "functions": "approx"}))
    if dtype == "fp32":
        rounded = "__bfloat162float(__float2bfloat16_rn(v))"
        found.append(("bf16 inside", False, {**plain, "inside": rounded}))
        if op.products:
            found.append(("tf32 inside", False, {**plain, "inside": "__uint_as_float(__float_as_uint(v) & 0xffffe000u)"}))
    for name, body in op.imposters.items():
        found.append((name, False, {**plain, "body": body}))
    result = "o[0] = put({});" if op.per_row else ALL + " o[i] = put({});"
    if op.name == "linear":
        result = "for (int i = threadIdx.x; i < K; i += 128) o[i] = put({});"
    for name, value in (("zero", "0.0f"), ("constant", "0.5f"), ("identity", "get(r[0])" if op.per_row else "get(r[i])")):
        if op.name == "linear" and name == "identity":
            continue
        found.append((name, False, {**plain, "body": result.format(value)}))
    found.append(("half scaled", False, {**plain, "scale": "0.5f * v"}))
    found.append(("sign flip", False, {**plain, "scale": "-v"}))
    found.append(("first row only", False, {**plain, "row": "0"}))
    return found


def module(op, dtype, settings):
    ctype, load, store = TYPES[dtype]
    functions = FUNCTIONS[settings["functions"]]
    store = store.replace("v", "(%s)" % settings["scale"]) if "scale" in settings else store
    prelude = PRELUDE.format(ctype=ctype, load=load, store=store, inside=settings["inside"], add=settings["add"],
                             sum=SUMS[settings["sum"]], **functions)
    width = "" if op.per_row else " * K" if op.name == "linear" else " * (size_t)D"
    shape = "B" if op.per_row else "B, K" if op.name == "linear" else "B, D"
    lines = ["//! kernelwright 1", f"//! task    {op.name}", f"//! input   x: {dtype}[B, D]"]
    names = [weight.split("[")[0] for weight in op.weights]
    lines += [f"//! input   {weight.split('[')[0]}: {dtype}[{weight[2:-1] if '[' in weight else 'D'}]"
              for weight in op.weights]
    arguments = ["x", *names, "y", "D", *(["K"] if op.name == "linear" else [])]
    lines += [f"//! output  y: {dtype}[{shape}]", f"//! launch  k grid(B) block(128) args({', '.join(arguments)})"]
    params = "".join(f"const T* {name}, " for name in names)
    return "\n".join(lines) + prelude + f"""#define MUL(a, b) {settings["mul"]}
__global__ void k(const T* x, {params}T* y, int D{', int K' if op.name == 'linear' else ''}) {{
  const T* r = x + (size_t){settings.get("row", "blockIdx.x")} * D;
  T* o = y + (size_t)blockIdx.x{width};
  {settings["body"]}
}}
"""


def write_task(folder, op, dtype):
    os.makedirs(folder)
    arguments = ", ".join(["x", *[weight.split("[")[0] for weight in op.weights]])
    with open(os.path.join(folder, "reference.py"), "w") as file:
        file.write("import torch\nimport torch.nn.functional as F\n\n\n"
                   f"def reference({arguments}):\n    {op.reference}\n")
    weights = "".join(f'\n[inputs.{weight.split("[")[0]}]\ndtype = "{dtype}"\n'
                      f'shape = {json.dumps(["K", "D"] if "[" in weight else ["D"])}\nrole = "weight"\n'
                      for weight in op.weights)
    least = 2 if op.name == "var" else 1
    shapes = [{"B": b, "D": d} for b, d in ((5, 7), (4, 64), (4, 257), (3, 1000), (2, 4096), (300, 4100))]
    dims = f"B = {{ min = 1, max = 65536 }}\nD = {{ min = {least}, max = 65536 }}\n"
    if op.name == "linear":
        shapes = [{**shape, "K": k} for shape, k in zip(shapes, (1, 5, 8, 3, 2, 16))]
        dims += "K = { min = 1, max = 64 }\n"
    listed = ["{ " + ", ".join(f"{name} = {value}" for name, value in shape.items()) + " }" for shape in shapes]
    with open(os.path.join(folder, "task.toml"), "w") as file:
        file.write(f'name = "{op.name}"\n\n[inputs]\nx = "{dtype}[B, D]"\n{weights}\n[dims]\n{dims}\n[shapes]\n'
                   f'correctness = [{", ".join(listed[:-1])}]\nbenchmark = [{listed[-1]}]\n')
    return folder


def judge(kernelwright, device, folder, op, dtype, most):
    rows = ways(op, dtype)[:most]
    paths = []
    for number, (name, _, settings) in enumerate(rows):
        paths.append(os.path.join(folder, f"{op.name}_{dtype}_{number}.cu"))
        with open(paths[-1], "w") as file:
            file.write(module(op, dtype, settings))
    task = write_task(os.path.join(folder, f"{op.name}_{dtype}"), op, dtype)
    answer = subprocess.run([kernelwright, "verify", *paths, "--reference", task, "--device", device,
                             "--cross-check", "never", "--json"], capture_output=True, text=True)
    if answer.returncode == 3:
        print("SKIPPED:", (answer.stderr or answer.stdout).strip()[-300:])
        sys.exit(SKIPPED)
    try:
        report = json.loads(answer.stdout)
    except ValueError:
        print(answer.stdout[-2000:], answer.stderr[-2000:])
        sys.exit(1)
    if answer.returncode not in (0, 1):
        print(f"{op.name} {dtype}:", answer.stdout[-2000:], answer.stderr[-2000:])
        sys.exit(1)
    return [(name, honest, found) for (name, honest, _), found in zip(rows, report.get("candidates", [report]))]


def line_of(op, dtype, judged):
    """One row of the table, and what went wrong."""
    honest = [(name, found) for name, good, found in judged if good]
    wrong = [f"{op.name} {dtype}, {name}: honest, but {found['verdict']}: {found.get('reason', '')}"
             for name, found in honest if found["verdict"] != "passed"]
    wrong += [f"{op.name} {dtype}, {name}: an imposter, but {found['verdict']} {found.get('reason', '')}"
              for name, good, found in judged
              if not good and (found["verdict"] == "passed" or found.get("stage") == "compile")]
    cells = sum(found.get("cells", 0) for _, found in honest)
    worst = max(honest, key=lambda row: (row[1].get("error") or {}).get("max_z") or 0)
    error = worst[1].get("error") or {}
    cell = error.get("cell") or {}
    refused = sum(1 for _, found in honest if found["verdict"] != "passed")
    passed = sum(1 for _, good, found in judged if not good and found["verdict"] == "passed")
    imposters = len(judged) - len(honest)
    return (f"| {op.name} | {dtype} | {len(honest)} | {cells} | {refused} | {error.get('max_z', 0):.2f} ({worst[0]}, "
            f"{cell.get('family', '')} {cell.get('shape', '')}) | {imposters} | {passed} |"), wrong, \
        (len(honest), cells, imposters)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernelwright")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--ops", default=",".join(op.name for op in OPS))
    parser.add_argument("--types", default="fp32,fp16,bf16")
    parser.add_argument("--most", type=int, help="ways per operation")
    parser.add_argument("--report")
    asked = parser.parse_args()
    lines, problems, totals = [], [], (0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        for op in [op for op in OPS if op.name in asked.ops.split(",")]:
            for dtype in asked.types.split(","):
                judged = judge(asked.kernelwright, asked.device, folder, op, dtype, asked.most)
                line, wrong, counts = line_of(op, dtype, judged)
                print(line, flush=True)
                lines.append(line)
                problems += wrong
                totals = tuple(a + b for a, b in zip(totals, counts))
    print(f"measured: {totals[0]} honest kernels in {totals[1]} cells, {totals[2]} imposters: {len(problems)} problems")
    print("\n".join(problems))
    if asked.report:
        with open(asked.report, "w") as file:
            file.write("\n".join(lines + problems) + "\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
