"""What Triton candidates are written with, and what they may not do: a file's text behind HEAD, the reference it is for, and what comes of it."""

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
REFERENCES = {
    "twice": ('def twice(x: "fp32[B, D]"):\n    return x * 2.0\n', {"B": 24, "D": 96}),
    "softmax": ('import torch\n\n\ndef softmax(x: "fp32[B, D]"):\n    return torch.softmax(x, dim=-1)\n', {"B": 24, "D": 320}),
    "layer_norm": ('import torch.nn.functional as F\n\n\ndef layer_norm(x: "fp32[B, D]", w: "fp32[D]", b: "fp32[D]"):\n'
                   '    return F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)\n', {"B": 24, "D": 320}),
    "matmul": ('def matmul(a: "fp32[M, K]", b: "fp32[K, N]"):\n    return a @ b\n', {"M": 64, "K": 96, "N": 80}),
    "half_matmul": ('def half_matmul(a: "fp16[M, K]", b: "fp16[K, N]"):\n    return a @ b\n', {"M": 128, "K": 160, "N": 96}),
    "bf16_matmul": ('def bf16_matmul(a: "bf16[M, K]", b: "bf16[K, N]"):\n    return a @ b\n', {"M": 64, "K": 64, "N": 64}),
    "row_sum": ('def row_sum(x: "fp32[B, D]"):\n    return x.sum(dim=-1)\n', {"B": 24, "D": 320}),
    "attention": ('import torch.nn.functional as F\n\n\ndef attention(q: "fp16[B, H, L, D]", k: "fp16[B, H, L, D]", v: "fp16[B, H, L, D]"):\n'
                  '    return F.scaled_dot_product_attention(q, k, v)\n', {"B": 1, "H": 2, "L": 96, "D": 64}),
    "tripled_sum": ('def tripled_sum(x: "int32[B, D]"):\n    return (x * 3).sum(dim=-1)\n', {"B": 24, "D": 320}),
}
TWICE = '''@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)


'''
MATMUL = '''@triton.jit
def product(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PRECISION: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * columns
    first = pid // width * GROUP
    size = min(rows - first, GROUP)
    row, column = first + pid % width % size, pid % width // size
    at_m, at_n, at_k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(a + at_m[:, None] * am + (k * BK + at_k)[None, :] * ak, mask=(at_m[:, None] < M) & (k * BK + at_k < K)[None, :], other=0.0)
        right = tl.load(b + (k * BK + at_k)[:, None] * bk + at_n[None, :] * bn, mask=(k * BK + at_k < K)[:, None] & (at_n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + at_m[:, None] * cm + at_n[None, :] * cn, total.to(c.dtype.element_ty), mask=(at_m[:, None] < M) & (at_n[None, :] < N))


def multiplied(a, b, **options):
    c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(a.shape[0], meta["BM"]) * triton.cdiv(b.shape[1], meta["BN"]),)
    product[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1], *a.stride(), *b.stride(), *c.stride(), **options)
    return c


'''
SOFTMAX = '''@triton.jit
def rows(x, y, d, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * d + at, mask=at < d, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * d + at, value / tl.sum(value, axis=0), mask=at < d)


'''
CONFIGS = "[triton.Config({'BLOCK': 256}, num_warps=2), triton.Config({'BLOCK': 512}, num_warps=4)]"


def twice(body, before=""):
    return before + TWICE + "def forward(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def tuned(more="", before=""):
    return before + f"@triton.autotune(configs={CONFIGS}, key=['n']{more})\n" + TWICE + (
        "def forward(x):\n    y = torch.empty_like(x)\n    double[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, y, x.numel())\n    return y\n")


LAUNCH = "double[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)"
PASS = [  # name, reference, text, what is said beside
    ("vector", "twice", twice(f"y = torch.empty_like(x)\n{LAUNCH}\nreturn y"), ""),
    ("zeros and clone beside it", "twice", twice(f"y = torch.zeros_like(x)\nx = x.clone()\n{LAUNCH}\nreturn y"), ""),
    ("strided copies beside it", "twice", twice(f"x = x.t().contiguous()\ny = torch.full_like(x, 1.0)\n{LAUNCH}\nreturn y.t().contiguous()"), ""),
    ("conversions beside it", "twice", twice(f"x = x.double()\ny = torch.empty_like(x)\n{LAUNCH}\nreturn y.to(torch.float32)"), ""),
    ("constants made on the device", "twice", TWICE.replace("(x, y, n,", "(x, t, y, n,").replace("* 2.0", "* tl.load(t + 2)")
     + "def forward(x):\n    y = torch.empty_like(x)\n    t = torch.arange(4, device=x.device, dtype=torch.float32)\n"
     "    double[(triton.cdiv(x.numel(), 512),)](x, t, y, x.numel(), BLOCK=512)\n    return y\n", ""),
    ("a buffer of its own", "twice", TWICE.replace("(x, y, n,", "(x, t, y, n,").replace("* 2.0", "* tl.load(t)")
     + "class ModelNew(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('by', torch.full((1,), 2.0))\n\n"
     "    def forward(self, x):\n        y = torch.empty_like(x)\n        double[(triton.cdiv(x.numel(), 512),)](x, self.by, y, x.numel(), BLOCK=512)\n        return y\n", ""),
    ("tables of the host", "twice", TWICE.replace("* 2.0", "* tl.load(y + n)").replace("y + n", "t") .replace("(x, y, n,", "(x, y, n, t,")
     + "def forward(x):\n    y = torch.empty_like(x)\n    t = torch.tensor([2.0], device='cuda')\n"
     "    double[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), t, BLOCK=512)\n    return y\n", ""),
    ("autotuned", "twice", tuned(), "was not tuned"),
    ("autotuned with pruning", "twice", tuned(", prune_configs_by={'early_config_prune': lambda configs, named, **more: configs[1:]}"), "BLOCK: 512"),
    ("autotuned, the first does not fit", "twice", tuned().replace("num_warps=2)", "num_warps=64)"), "BLOCK: 512"),
    ("heuristics", "twice", "@triton.heuristics({'BLOCK': lambda words: triton.next_power_of_2(min(words['n'], 512))})\n" + TWICE +
     "def forward(x):\n    y = torch.empty_like(x)\n    double[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, y, x.numel())\n    return y\n", ""),
    ("a type as a constant", "twice", twice(f"y = torch.empty_like(x)\n{LAUNCH.replace('BLOCK', 'KIND=tl.float32, BLOCK')}\nreturn y")
     .replace("n, BLOCK:", "n, KIND: tl.constexpr, BLOCK:").replace("* 2.0", "* tl.full((), 2.0, KIND)"), ""),
    ("a helper of its own, and of libdevice", "twice", "from triton.language.extra import libdevice\n\n\n@triton.jit\ndef by_two(v):\n    return libdevice.rint(v * 0.0) + v + v\n\n\n"
     + twice(f"y = torch.empty_like(x)\n{LAUNCH}\nreturn y").replace("tl.load(x + at, mask=at < n) * 2.0", "by_two(tl.load(x + at, mask=at < n))"), ""),
    ("block pointers", "twice", '''@triton.jit
def double(x, y, B, D, BB: tl.constexpr, BD: tl.constexpr):
    at = tl.program_id(0) * BB
    source = tl.make_block_ptr(x, (B, D), (D, 1), (at, 0), (BB, BD), (1, 0))
    to = tl.make_block_ptr(y, (B, D), (D, 1), (at, 0), (BB, BD), (1, 0))
    for _ in range(0, tl.cdiv(D, BD)):
        tl.store(to, tl.load(source, boundary_check=(0, 1)) * 2.0, boundary_check=(0, 1))
        source, to = tl.advance(source, (0, BD)), tl.advance(to, (0, BD))


def forward(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.shape[0], 16),)](x, y, x.shape[0], x.shape[1], BB=16, BD=32)
    return y
''', ""),
    ("softmax", "softmax", SOFTMAX + "def forward(x):\n    y = torch.empty_like(x)\n"
     "    rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=4, num_stages=2)\n    return y\n", ""),
    ("a persistent softmax that asks for registers", "softmax", '''@triton.jit
def rows(x, y, b, d, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), b, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        value = tl.load(x + row * d + at, mask=at < d, other=-float("inf"))
        value = tl.exp(value - tl.max(value, axis=0))
        tl.store(y + row * d + at, value / tl.sum(value, axis=0), mask=at < d)


def forward(x):
    b, d = x.shape
    y = torch.empty_like(x)
    properties = triton.runtime.driver.active.utils.get_device_properties(x.device.index)
    kernel = rows.warmup(x, y, b, d, BLOCK=triton.next_power_of_2(d), STAGES=2, num_warps=4, grid=(1,))
    kernel._init_handles()
    blocks = properties["multiprocessor_count"] * max(1, properties["max_num_regs"] // (kernel.n_regs * 32 * 4))
    rows[(min(blocks, b),)](x, y, b, d, BLOCK=triton.next_power_of_2(d), STAGES=2, num_warps=4)
    return y
''', ""),
    ("layer norm", "layer_norm", '''@triton.jit
def normed(x, w, b, y, d, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    mean = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, d, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mean += tl.load(x + row * d + at, mask=at < d, other=0.0)
    middle = tl.sum(mean, axis=0) / d
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, d, BLOCK):
        at = start + tl.arange(0, BLOCK)
        off = tl.where(at < d, tl.load(x + row * d + at, mask=at < d, other=0.0) - middle, 0.0)
        square += off * off
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / d + eps)
    for start in range(0, d, BLOCK):
        at = start + tl.arange(0, BLOCK)
        off = tl.load(x + row * d + at, mask=at < d, other=0.0) - middle
        tl.store(y + row * d + at, off * scale * tl.load(w + at, mask=at < d) + tl.load(b + at, mask=at < d), mask=at < d)


def forward(x, w, b):
    y = torch.empty_like(x)
    normed[(x.shape[0],)](x, w, b, y, x.shape[1], 1e-5, BLOCK=128)
    return y
''', ""),
    ("matmul in fp32", "matmul", MATMUL + "def forward(a, b):\n    return multiplied(a, b, BM=32, BN=32, BK=32, GROUP=4, PRECISION='ieee')\n", ""),
    ("matmul in fp32, three times tf32", "matmul", MATMUL + "def forward(a, b):\n    return multiplied(a, b, BM=64, BN=32, BK=32, GROUP=4, PRECISION='tf32x3')\n", ""),
    ("matmul in halves", "half_matmul", MATMUL + "def forward(a, b):\n    return multiplied(a, b, BM=64, BN=64, BK=32, GROUP=4, PRECISION=None, num_warps=4, num_stages=3)\n", ""),
    ("matmul in halves, one warp", "half_matmul", MATMUL + "def forward(a, b):\n    return multiplied(a, b, BM=16, BN=32, BK=32, GROUP=4, PRECISION=None, num_warps=1, num_stages=2)\n", ""),
    ("matmul in halves, two warp groups", "half_matmul", MATMUL + "def forward(a, b):\n    return multiplied(a, b, BM=128, BN=32, BK=64, GROUP=4, PRECISION=None, num_warps=8, num_stages=4)\n", ""),
    ("matmul in bf16", "bf16_matmul", MATMUL + "def forward(a, b):\n    return multiplied(a, b, BM=64, BN=32, BK=32, GROUP=4, PRECISION=None, num_warps=4)\n", ""),
    ("atomic sums", "row_sum", '''@triton.jit
def sums(x, y, d, BLOCK: tl.constexpr):
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0).to(tl.int64) * d + at, mask=at < d, other=0.0)
    tl.atomic_add(y + tl.program_id(0), tl.sum(value, axis=0))


def forward(x):
    y = torch.zeros(x.shape[0], device=x.device, dtype=torch.float32)
    sums[(x.shape[0], triton.cdiv(x.shape[1], 128))](x, y, x.shape[1], BLOCK=128)
    return y
''', ""),
    ("attention", "attention", '''@triton.jit
def attended(q, k, v, o, L, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    base = tl.program_id(1).to(tl.int64) * L * D
    at_m, at_d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    here = base + at_m[:, None] * D + at_d[None, :]
    query = tl.load(q + here, mask=at_m[:, None] < L, other=0.0)
    most = tl.full([BM], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BM], dtype=tl.float32)
    out = tl.zeros([BM, D], dtype=tl.float32)
    for start in range(0, L, BN):
        at_n = start + tl.arange(0, BN)
        key = tl.load(k + base + at_n[None, :] * D + at_d[:, None], mask=at_n[None, :] < L, other=0.0)
        score = tl.where(at_n[None, :] < L, tl.dot(query, key) * scale, -float("inf"))
        high = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp(score - high[:, None])
        fade = tl.exp(most - high)
        total = total * fade + tl.sum(weight, 1)
        value = tl.load(v + base + at_n[:, None] * D + at_d[None, :], mask=at_n[:, None] < L, other=0.0)
        out = tl.dot(weight.to(tl.float16), value, out * fade[:, None])
        most = high
    tl.store(o + here, (out / total[:, None]).to(tl.float16), mask=at_m[:, None] < L)


def forward(q, k, v):
    B, H, L, D = q.shape
    o = torch.empty_like(q)
    attended[(triton.cdiv(L, 64), B * H)](q, k, v, o, L, D ** -0.5, D=D, BM=64, BN=32, num_warps=4, num_stages=2)
    return o
''', ""),
    ("integers", "tripled_sum", '''@triton.jit
def sums(x, y, d, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0).to(tl.int64) * d + at, mask=at < d, other=0)
    tl.store(y + tl.program_id(0), tl.sum((value * 3).to(tl.int64), axis=0))


def forward(x):
    y = torch.empty(x.shape[0], device=x.device, dtype=torch.int64)
    sums[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
''', ""),
]
REFUSED = [  # the same, and why it is refused
    ("random numbers", "twice", twice(f"torch.manual_seed(0)\ny = torch.rand(x.shape, device=x.device)\n{LAUNCH}\nreturn y"), "whose numbers are another device's"),
    ("computes beside its kernel", "twice", twice(f"y = torch.empty_like(x)\n{LAUNCH}\nreturn torch.add(y, 0.0)"), "it calls aten::add"),
    ("launched before the model is called", "twice", twice(f"y = torch.empty_like(x)\n{LAUNCH}\nreturn y")
     + "\n\nforward(torch.empty(64, device='cuda'))\n", "before the model is called"),
    ("a tensor of the host", "twice", twice(f"y = torch.empty_like(x)\nx = torch.empty(x.numel())\n{LAUNCH}\nreturn y"), "Pointer argument cannot be accessed"),
    ("numbers made before the call", "twice", twice(f"y = torch.empty_like(x)\nx = made\n{LAUNCH}\nreturn y") + "\n\nmade = torch.ones(24 * 96, device='cuda')\n",
     "numbers that were made on the device before the call"),
    ("measures while it is recorded", "twice", twice(
        f"y = torch.empty_like(x)\nbest = triton.runtime.driver.active.get_benchmarker()(lambda: None)\n{LAUNCH}\nreturn y"), "it measures its kernels"),
    ("dependent launch", "twice", twice(f"y = torch.empty_like(x)\n{LAUNCH.replace('BLOCK=512', 'BLOCK=512, launch_pdl=True')}\nreturn y"), "programmatic dependent launch"),
    ("descriptors made in a kernel", "twice", """@triton.jit
def double(x, y, B, D, BB: tl.constexpr, BD: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [B, D], [D, 1], [BB, BD])
    to = tl.make_tensor_descriptor(y, [B, D], [D, 1], [BB, BD])
    to.store([0, 0], source.load([0, 0]) * 2.0)


def forward(x):
    y = torch.empty_like(x)
    double[(1,)](x, y, x.shape[0], x.shape[1], BB=16, BD=32)
    return y
""", "tensor descriptors"),
    ("no configuration fits", "twice", tuned().replace("num_warps=2)", "num_warps=64)").replace("num_warps=4)", "num_warps=64)"),
     "no configuration of an autotuned kernel fits"),
    ("does not compile", "twice", twice(f"y = torch.empty_like(x)\n{LAUNCH}\nreturn y").replace("* 2.0", "* undefined_name"), "undefined_name is not defined"),
]
