"""What CuTe DSL's candidates are written with, and what they may not do; as triton_cases.py."""

HEAD = "import torch\nimport cutlass\nimport cutlass.cute as cute\nfrom cutlass.cute.runtime import from_dlpack\n\n\n"
REFERENCES = {
    "twice": ('def twice(x: "fp32[B, D]"):\n    return x * 2.0\n', {"B": 24, "D": 96}),
    "half_twice": ('def half_twice(x: "fp16[B, D]"):\n    return x * 2.0\n', {"B": 24, "D": 96}),
    "row_sum": ('def row_sum(x: "fp32[B, D]"):\n    return x.sum(dim=-1)\n', {"B": 24, "D": 320}),
}
KERNEL = '''@cute.kernel
def double(x: cute.Tensor, y: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    at = block * 256 + thread
    if at < n:
        y[at] = x[at] + x[at]


@cute.jit
def doubled(x: cute.Tensor, y: cute.Tensor, n: cutlass.Int32):
    double(x, y, n).launch(grid=[(n + 255) // 256, 1, 1], block=[256, 1, 1])


'''
CALL = "doubled(from_dlpack(x.view(-1)), from_dlpack(y.view(-1)), x.numel())"


def twice(body, kernel=KERNEL):
    return kernel + "def forward(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())


PASS = [  # name, reference, text, what is said beside
    ("a kernel", "twice", twice(f"y = torch.empty_like(x)\n{CALL}\nreturn y"), ""),
    ("halves", "half_twice", twice(f"y = torch.empty_like(x)\n{CALL}\nreturn y"), ""),
    ("compiled once, with a layout that moves", "twice", twice('''y = torch.empty_like(x)
x, z = (from_dlpack(one.view(-1), assumed_align=16).mark_layout_dynamic() for one in (x, y))
if not kept:
    kept.append(cute.compile(doubled, x, z, y.numel()))
kept[0](x, z, y.numel())
return y''', "kept = []\n\n\n" + KERNEL), ""),
    ("on a stream, and with copies beside it", "twice", twice('''import cuda.bindings.driver as cuda
x = x.t().contiguous()
y = torch.zeros_like(x)
doubled(from_dlpack(x.view(-1)), from_dlpack(y.view(-1)), x.numel(), cuda.CUstream(torch.cuda.current_stream().cuda_stream))
return y.t().contiguous()''', KERNEL.replace("n: cutlass.Int32):\n    double(", "n: cutlass.Int32, stream):\n    double(")
     .replace("block=[256, 1, 1])", "block=[256, 1, 1], stream=stream)")), ""),
    ("vectors by tiles", "twice", '''@cute.kernel
def double(x: cute.Tensor, y: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    at = block * 32 + thread
    if at < cute.size(x, mode=[1]):
        y[(None, at)].store(x[(None, at)].load() * 2.0)


@cute.jit
def doubled(x: cute.Tensor, y: cute.Tensor):
    x, y = cute.zipped_divide(x, (4,)), cute.zipped_divide(y, (4,))
    double(x, y).launch(grid=[(cute.size(x, mode=[1]) + 31) // 32, 1, 1], block=[32, 1, 1])


def forward(x):
    if x.numel() % 4 != 0:
        raise ValueError("only in fours")
    y = torch.empty_like(x)
    doubled(from_dlpack(x.view(-1), assumed_align=16), from_dlpack(y.view(-1), assumed_align=16))
    return y
''', "only in fours"),
    ("sums over lanes", "row_sum", '''@cute.kernel
def sums(x: cute.Tensor, y: cute.Tensor, d: cutlass.Int32):
    lane, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    total = cutlass.Float32(0.0)
    for at in range(lane, d, 32):
        total += x[row, at]
    for step in cutlass.range_constexpr(5):
        total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
    if lane == 0:
        y[row] = total


@cute.jit
def summed(x: cute.Tensor, y: cute.Tensor, b: cutlass.Int32, d: cutlass.Int32):
    sums(x, y, d).launch(grid=[b, 1, 1], block=[32, 1, 1])


def forward(x):
    y = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
    summed(from_dlpack(x), from_dlpack(y), x.shape[0], x.shape[1])
    return y
''', ""),
]
REFUSED = [  # the same, and why it is refused
    ("computes beside its kernel", "twice", twice(f"y = torch.empty_like(x)\n{CALL}\nreturn x * 2.0"), "it calls aten::mul"),
    ("keeps its result", "twice", twice(
        f"if x.data_ptr() not in kept:\n    y = torch.empty_like(x)\n    {CALL}\n    kept[x.data_ptr()] = y\nreturn kept[x.data_ptr()]", "kept = {}\n\n\n" + KERNEL),
     "from call to call"),
    ("launches others later", "twice", twice(
        "y = torch.empty_like(x)\nturns.append(1)\nby = 256 if len(turns) == 1 else 128\n"
        "doubled(from_dlpack(x.view(-1)), from_dlpack(y.view(-1)), x.numel() if by == 256 else 0)\nreturn y", "turns = []\n\n\n" + KERNEL), ""),
    ("numbers made before the call", "twice", twice(f"y = torch.empty_like(x)\nx = made\n{CALL}\nreturn y", "made = torch.ones(24 * 96, device='cuda')\n\n\n" + KERNEL),
     "numbers that were made on the device before the call"),
    ("half of it", "twice", twice(f"y = torch.empty_like(x)\n{CALL.replace('x.numel()', 'x.numel() // 2')}\nreturn y"), "never written"),
    ("hands out other PTX", "twice", twice(f"y = torch.empty_like(x)\n{CALL}\nreturn y", '''from kw_foreign_worker import cute_device

keep = cute_device.Cute.keep
cute_device.Cute.keep = lambda self, text: keep(self, text.replace("add.f32", "sub.f32"))


''' + KERNEL), "WRONG"),
    ("starts a process while it compiles", "twice", twice(f"y = torch.empty_like(x)\nimport subprocess\nsubprocess.run(['/bin/true'])\n{CALL}\nreturn y"), "started a process"),
]
