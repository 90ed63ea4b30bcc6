"""Operations of KernelBench's levels 1 and 2, one by one and at sizes that take seconds without a GPU: what the engine must be able to read,
judge and write a kernel for. problems() gives them as (level, number, name, text of a file in KernelBench's format).

A row says which sizes there are, which of them a model is made with, what it keeps, what it does, and what goes in.
"""

TEMPLATE = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
{keeps}

    def forward(self, {arguments}):
{does}


{sizes}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return [{given}]
"""
ROWS = []


def problem(level, number, name, sizes, made_with, keeps, does, arguments="x", inputs=None):
    ROWS.append((level, number, name, sizes, made_with, keeps, does, arguments, inputs))


def one(number, name, sizes, made_with, keeps, does, arguments="x", inputs=None):
    problem(1, number, name, sizes, made_with, keeps, does, arguments, inputs)


def two(number, name, sizes, made_with, keeps, does, arguments="x", inputs=None):
    problem(2, number, name, sizes, made_with, keeps, does, arguments, inputs)


def indented(text):
    return "\n".join("        " + line for line in text.strip().split("\n"))


def text_of(row):
    _, _, _, sizes, made_with, keeps, does, arguments, inputs = row
    return TEMPLATE.format(parameters="".join(", " + one.strip() for one in made_with.split(",") if one.strip()),
                           keeps=indented(keeps) if keeps else "        pass", arguments=arguments, does=indented(does),
                           sizes="\n".join(one.strip() for one in sizes.split(";")), inputs=inputs, given=made_with)


def problems():
    return [(row[0], row[1], row[2], text_of(row)) for row in sorted(ROWS, key=lambda row: row[:2])]


# Level 1: products
AB = "torch.rand({}), torch.rand({})"
one(1, "square_product", "N = 64", "", "", "return torch.matmul(A, B)", "A, B", AB.format("N, N", "N, N"))
one(2, "product", "M = 48; K = 80; N = 32", "", "", "return torch.matmul(A, B)", "A, B", AB.format("M, K", "K, N"))
one(3, "batched_product", "batch = 3; m = 24; k = 40; n = 32", "", "", "return torch.bmm(A, B)", "A, B", AB.format("batch, m, k", "batch, k, n"))
one(4, "matrix_vector", "M = 40; K = 300", "", "", "return torch.matmul(A, B)", "A, B", AB.format("M, K", "K, 1"))
one(5, "matrix_scalar", "M = 40; N = 96; s = 3.14", "", "", "return A * s", "A, s", "torch.rand(M, N), s")
one(6, "product_large_k", "M = 16; N = 16; K = 1024", "", "", "return torch.matmul(A, B)", "A, B", AB.format("M, K", "K, N"))
one(7, "product_small_k", "M = 96; N = 96; K = 8", "", "", "return torch.matmul(A, B)", "A, B", AB.format("M, K", "K, N"))
one(8, "product_irregular", "M = 67; K = 43; N = 29", "", "", "return torch.matmul(A, B)", "A, B", AB.format("M, K", "K, N"))
one(9, "product_tall_skinny", "M = 128; N = 8", "", "", "return torch.matmul(A, B)", "A, B", AB.format("M, N", "N, M"))
one(10, "tensor3_product", "N = 4; M = 16; K = 32; L = 24", "", "", "return torch.matmul(A, B)", "A, B", AB.format("N, M, K", "K, L"))
one(11, "tensor4_product", "b = 2; i = 5; j = 6; l = 16; k = 24", "", "", 'return torch.einsum("bijl,lk->bijk", A, B)', "A, B",
    AB.format("b, i, j, l", "l, k"))
one(12, "diagonal_product", "M = 40; N = 64", "", "", "return A.unsqueeze(1) * B", "A, B", AB.format("N", "N, M"))
one(13, "symmetric_product", "N = 48", "", "", "return torch.matmul(A, B)", "A, B", AB.format("N, N", "N, N"))
one(14, "upper_triangular_product", "N = 48", "", "", "return torch.triu(torch.matmul(A, B))", "A, B",
    "torch.triu(torch.rand(N, N)), torch.triu(torch.rand(N, N))")
one(15, "lower_triangular_product", "M = 48", "", "", "return torch.tril(torch.matmul(A, B))", "A, B",
    "torch.tril(torch.rand(M, M)), torch.tril(torch.rand(M, M))")
one(16, "product_transposed_a", "M = 32; K = 48; N = 40", "", "", "return torch.matmul(A.T, B)", "A, B", AB.format("K, M", "K, N"))
one(17, "product_transposed_b", "M = 32; K = 48; N = 40", "", "", "return torch.matmul(A, B.T)", "A, B", AB.format("M, K", "N, K"))
one(18, "product_transposed_both", "M = 32; K = 48; N = 40", "", "", "return torch.matmul(A.T, B.T)", "A, B", AB.format("K, M", "N, K"))

# Level 1: functions, norms, reductions
ROWS_IN, ROWS_OF = "batch = 8; dim = 200", "torch.rand(batch, dim)"
FUNCTIONS = [(19, "relu", "torch.relu(x)"), (20, "leaky_relu", "F.leaky_relu(x, negative_slope=0.01)"), (21, "sigmoid", "torch.sigmoid(x)"),
             (22, "tanh", "torch.tanh(x)"), (23, "softmax", "torch.softmax(x, dim=1)"), (24, "log_softmax", "torch.log_softmax(x, dim=1)"),
             (25, "swish", "x * torch.sigmoid(x)"), (26, "gelu", "F.gelu(x)"), (27, "selu", "torch.selu(x)"),
             (28, "hard_sigmoid", "F.hardsigmoid(x)"), (29, "softplus", "F.softplus(x)"), (30, "softsign", "x / (1 + torch.abs(x))"),
             (31, "elu", "F.elu(x, alpha=1.0)"), (32, "hard_tanh", "F.hardtanh(x, min_val=-1.0, max_val=1.0)"),
             (37, "frobenius_norm", 'x / torch.norm(x, p="fro")'), (38, "l1_norm", "x / torch.mean(torch.abs(x), dim=1, keepdim=True)"),
             (39, "l2_norm", "x / torch.norm(x, p=2, dim=1, keepdim=True)"), (89, "cumulative_sum", "torch.cumsum(x, dim=1)"),
             (90, "cumulative_product", "torch.cumprod(x, dim=1)"), (91, "reverse_cumulative_sum", "torch.cumsum(x.flip(1), dim=1).flip(1)")]
for number, name, formula in FUNCTIONS:
    one(number, name, ROWS_IN, "", "", "return " + formula, "x", ROWS_OF)
one(88, "gelu_of_gpt", ROWS_IN, "", "",
    "return 0.5 * x * (1.0 + torch.tanh((2.0 / 3.141592653589793) ** 0.5 * (x + 0.044715 * torch.pow(x, 3.0))))", "x", ROWS_OF)
one(92, "exclusive_cumulative_sum", ROWS_IN, "", "",
    "cumulative = torch.cumsum(x.narrow(dim=1, start=0, length=x.size(1) - 1), dim=1)\n"
    "return torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), cumulative), dim=1)", "x", ROWS_OF)
one(93, "masked_cumulative_sum", ROWS_IN, "", "", "return torch.cumsum(x * mask, dim=1)", "x, mask",
    "torch.rand(batch, dim), torch.randint(0, 2, (batch, dim)).bool()")
IMAGE, IMAGE_OF = "batch = 4; features = 8; height = 12; width = 10", "torch.rand(batch, features, height, width)"
one(33, "batch_norm", IMAGE, "features", "self.bn = nn.BatchNorm2d(num_features=features)", "return self.bn(x)", "x", IMAGE_OF)
one(34, "instance_norm", IMAGE, "features", "self.norm = nn.InstanceNorm2d(num_features=features)", "return self.norm(x)", "x", IMAGE_OF)
one(35, "group_norm", IMAGE + "; groups = 4", "features, groups", "self.norm = nn.GroupNorm(num_groups=groups, num_channels=features)",
    "return self.norm(x)", "x", IMAGE_OF)
one(36, "rms_norm", IMAGE + "; eps = 1e-5", "features, eps", "self.eps = eps",
    "rms = torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + self.eps)\nreturn x / rms", "x", IMAGE_OF)
one(40, "layer_norm", IMAGE + "; shape = (features, height, width)", "shape", "self.norm = nn.LayerNorm(normalized_shape=shape)",
    "return self.norm(x)", "x", IMAGE_OF)
CUBE, CUBE_OF = "batch = 6; dim1 = 40; dim2 = 33", "torch.rand(batch, dim1, dim2)"
for number, name, formula in [(47, "sum", "torch.sum(x, dim=self.dim, keepdim=True)"), (48, "mean", "torch.mean(x, dim=self.dim)"),
                              (49, "max", "torch.max(x, dim=self.dim)[0]"), (51, "argmax", "torch.argmax(x, dim=self.dim)"),
                              (52, "argmin", "torch.argmin(x, dim=self.dim)"), (53, "min", "torch.min(x, dim=self.dim)[0]")]:
    one(number, name, CUBE + "; dim = 1", "dim", "self.dim = dim", "return " + formula, "x", CUBE_OF)

# Level 1: pools
one(41, "max_pool1d", "batch = 4; c = 6; n = 50; k = 4; s = 2; p = 1; d = 2", "k, s, p, d", "self.pool = nn.MaxPool1d(k, stride=s, padding=p, dilation=d)",
    "return self.pool(x)", "x", "torch.rand(batch, c, n)")
one(42, "max_pool2d", "batch = 3; c = 5; h = 20; w = 17; k = 4; s = 1; p = 1; d = 1", "k, s, p, d",
    "self.pool = nn.MaxPool2d(kernel_size=k, stride=s, padding=p, dilation=d)", "return self.pool(x)", "x", "torch.rand(batch, c, h, w)")
one(43, "max_pool3d", "batch = 2; c = 4; n = 11; k = 3; s = 2; p = 1; d = 2", "k, s, p, d",
    "self.pool = nn.MaxPool3d(kernel_size=k, stride=s, padding=p, dilation=d)", "return self.pool(x)", "x", "torch.rand(batch, c, n, n, n)")
one(44, "average_pool1d", "batch = 4; c = 6; n = 50; k = 8; s = 1; p = 4", "k, s, p", "self.pool = nn.AvgPool1d(kernel_size=k, stride=s, padding=p)",
    "return self.pool(x)", "x", "torch.rand(batch, c, n)")
one(45, "average_pool2d", "batch = 3; c = 5; h = 22; w = 26; k = 5", "k", "self.pool = nn.AvgPool2d(kernel_size=k)", "return self.pool(x)", "x",
    "torch.rand(batch, c, h, w)")
one(46, "average_pool3d", "batch = 2; c = 4; n = 12; m = 10; k = 3; s = 2; p = 1", "k, s, p", "self.pool = nn.AvgPool3d(kernel_size=k, stride=s, padding=p)",
    "return self.pool(x)", "x", "torch.rand(batch, c, n, m, n)")


# Level 1: convolutions
def convolution(number, name, kind, channels, image, arguments, bias=False):
    given = "cin, cout, " + ", ".join(arguments.keys())
    sizes = "; ".join(["batch = 2", "cin = %d" % channels[0], "cout = %d" % channels[1], *("%s = %s" % pair for pair in arguments.items())])
    words = ", ".join("%s=%s" % (word, word) for word in arguments)
    one(number, name, sizes, given, "self.conv = nn.%s(cin, cout, %s, bias=%s)" % (kind, words, bias), "return self.conv(x)", "x",
        "torch.rand(batch, cin, %s)" % ", ".join(map(str, image)))


K = "kernel_size"
convolution(50, "conv2d_of_alexnet", "Conv2d", (3, 16), (35, 35), {K: 11, "stride": 4, "padding": 2}, bias=True)
convolution(54, "conv3d_cube", "Conv3d", (3, 8), (9, 9, 9), {K: 3})
convolution(55, "conv2d_wide_image", "Conv2d", (6, 12), (14, 24), {K: 3})
convolution(56, "conv2d_wide_image_and_kernel", "Conv2d", (6, 12), (14, 20), {K: "(5, 7)"})
convolution(57, "conv_transpose2d", "ConvTranspose2d", (6, 8), (12, 12), {K: 3})
convolution(58, "conv_transpose3d_uneven", "ConvTranspose3d", (4, 3), (5, 6, 7), {K: "(3, 5, 4)", "stride": "(1, 2, 1)"})
convolution(59, "conv3d_flat_kernel", "Conv3d", (3, 8), (10, 10, 4), {K: "(3, 3, 1)"})
convolution(60, "conv3d_uneven_kernel", "Conv3d", (3, 6), (10, 10, 10), {K: "(3, 5, 4)"})
convolution(61, "conv_transpose3d", "ConvTranspose3d", (5, 4), (7, 7, 7), {K: 3})
convolution(62, "conv2d_uneven_kernel", "Conv2d", (6, 8), (16, 16), {K: "(5, 9)"})
convolution(63, "conv2d", "Conv2d", (8, 16), (16, 16), {K: 3})
convolution(64, "conv_transpose1d", "ConvTranspose1d", (8, 6), (40,), {K: 3})
convolution(65, "conv_transpose2d_uneven_kernel", "ConvTranspose2d", (6, 6), (12, 12), {K: "(3, 7)"})
convolution(66, "conv3d_uneven", "Conv3d", (3, 6), (6, 8, 9), {K: "(3, 5, 4)"})
convolution(67, "conv1d", "Conv1d", (8, 12), (50,), {K: 3})
convolution(68, "conv_transpose3d_uneven_kernel", "ConvTranspose3d", (4, 5), (6, 6, 6), {K: "(3, 5, 5)"})
convolution(69, "conv_transpose2d_uneven", "ConvTranspose2d", (6, 6), (10, 16), {K: "(3, 5)"})
convolution(70, "conv_transpose3d_uneven_image", "ConvTranspose3d", (5, 3), (5, 6, 7), {K: 3})
convolution(71, "conv_transpose2d_uneven_image", "ConvTranspose2d", (6, 6), (10, 16), {K: 3})
convolution(72, "conv_transpose3d_grouped", "ConvTranspose3d", (8, 8), (4, 5, 6),
            {K: "(3, 5, 3)", "stride": "(2, 2, 2)", "padding": "(1, 2, 1)", "output_padding": "(1, 1, 1)", "groups": 4})
convolution(73, "conv_transpose3d_strided_grouped", "ConvTranspose3d", (8, 8), (5, 5, 5), {K: 3, "stride": 2, "padding": 1, "groups": 4})
convolution(74, "conv_transpose1d_dilated", "ConvTranspose1d", (6, 8), (40,), {K: 5, "stride": 1, "padding": 0, "dilation": 3})
convolution(75, "conv_transpose2d_everything", "ConvTranspose2d", (8, 12), (8, 12),
            {K: "(3, 5)", "stride": "(2, 3)", "padding": "(1, 2)", "dilation": "(2, 1)", "groups": 4})
convolution(76, "conv1d_dilated_strided", "Conv1d", (8, 12), (60,), {K: 3, "stride": 3, "dilation": 4})
convolution(77, "conv_transpose3d_dilated", "ConvTranspose3d", (4, 6), (5, 6, 5), {K: 3, "stride": 2, "padding": 1, "dilation": 2})
convolution(78, "conv_transpose2d_padded", "ConvTranspose2d", (6, 6), (10, 16), {K: "(3, 7)", "stride": "(1, 1)", "padding": "(1, 3)"})
convolution(79, "conv_transpose1d_everything", "ConvTranspose1d", (6, 8), (30,), {K: 3, "stride": 2, "padding": 1, "dilation": 2})
convolution(80, "conv2d_dilated_padded", "Conv2d", (6, 8), (20, 20), {K: "(5, 9)", "stride": 1, "padding": "(2, 4)", "dilation": "(2, 3)"})
convolution(81, "conv_transpose2d_dilated", "ConvTranspose2d", (6, 8), (8, 12), {K: 3, "stride": 5, "padding": 1, "dilation": 2})


def depthwise(number, name, image, kernel, padding):
    one(number, name, "batch = 2; c = 8; k = %s; s = 1; p = %s" % (kernel, padding), "c, k, s, p",
        "self.conv = nn.Conv2d(c, c, kernel_size=k, stride=s, padding=p, groups=c, bias=False)", "return self.conv(x)", "x",
        "torch.rand(batch, c, %d, %d)" % image)


depthwise(82, "depthwise2d", (16, 16), 3, 0)
depthwise(83, "depthwise2d_tall_kernel", (16, 16), "(3, 1)", 0)
depthwise(84, "depthwise2d_wide_image", (10, 20), 3, 0)
depthwise(85, "depthwise2d_uneven", (10, 20), "(3, 7)", "(1, 3)")
one(86, "depthwise_separable2d", "batch = 2; cin = 6; cout = 12; k = 3; s = 1; p = 1; d = 1", "cin, cout, k, s, p, d",
    "self.depthwise = nn.Conv2d(cin, cin, k, stride=s, padding=p, dilation=d, groups=cin, bias=False)\n"
    "self.pointwise = nn.Conv2d(cin, cout, kernel_size=1, bias=False)", "return self.pointwise(self.depthwise(x))", "x",
    "torch.rand(batch, cin, 14, 14)")
one(87, "pointwise2d", "batch = 2; cin = 16; cout = 24", "cin, cout", "self.conv = nn.Conv2d(cin, cout, kernel_size=1, stride=1, padding=0, bias=False)",
    "return self.conv(x)", "x", "torch.rand(batch, cin, 12, 12)")

# Level 1: losses and attention
PAIR = "torch.rand(batch, dim), torch.rand(batch, dim)"
one(94, "mse_loss", ROWS_IN, "", "", "return torch.mean((predictions - targets) ** 2)", "predictions, targets", PAIR)
one(95, "cross_entropy", "batch = 32; classes = 10", "", "", "return F.cross_entropy(predictions, targets)", "predictions, targets",
    "torch.rand(batch, classes), torch.randint(0, classes, (batch,))")
one(96, "huber_loss", ROWS_IN, "", "", "return F.smooth_l1_loss(predictions, targets)", "predictions, targets", PAIR)
one(97, "attention", "batch = 2; heads = 3; length = 20; dim = 16", "", "", "return F.scaled_dot_product_attention(Q, K, V)", "Q, K, V",
    ", ".join(["torch.rand(batch, heads, length, dim)"] * 3))
one(98, "kl_divergence", ROWS_IN, "", "", 'return F.kl_div(torch.log(predictions), targets, reduction="batchmean")', "predictions, targets",
    "torch.rand(batch, dim).softmax(dim=-1), torch.rand(batch, dim).softmax(dim=-1)")
one(99, "triplet_loss", ROWS_IN + "; margin = 1.0", "margin", "self.loss = nn.TripletMarginLoss(margin=margin)",
    "return self.loss(anchor, positive, negative)", "anchor, positive, negative", PAIR + ", torch.rand(batch, dim)")
one(100, "hinge_loss", "batch = 40", "", "", "return torch.mean(torch.clamp(1 - predictions * targets, min=0))", "predictions, targets",
    "torch.rand(batch, 1), torch.randint(0, 2, (batch, 1)).float() * 2 - 1")

# Level 2: chains. What most of them begin with:
CONV2 = ("batch = 2; cin = 4; cout = 8; k = 3", "torch.rand(batch, cin, 12, 14)", "self.conv = nn.Conv2d(cin, cout, k)")
CONV3 = ("batch = 2; cin = 3; cout = 8; k = 3", "torch.rand(batch, cin, 7, 8, 9)", "self.conv = nn.Conv3d(cin, cout, k)")
TURN2 = ("batch = 2; cin = 4; cout = 8; k = 4; s = 2; p = 1", "torch.rand(batch, cin, 7, 8)",
         "self.conv = nn.ConvTranspose2d(cin, cout, k, stride=s, padding=p)")
TURN3 = ("batch = 2; cin = 3; cout = 8; k = 3; s = 2; p = 1", "torch.rand(batch, cin, 4, 5, 6)",
         "self.conv = nn.ConvTranspose3d(cin, cout, k, stride=s, padding=p)")
GEMM = ("batch = 16; cin = 48; cout = 32", "torch.rand(batch, cin)", "self.linear = nn.Linear(cin, cout)")


def chain(number, name, base, more, keeps, does, arguments="x", inputs=None):
    """The base's model with more sizes (name = value), what else it keeps, and what follows the first operation."""
    sizes = base[0] + "".join("; " + one.strip() for one in more.split(";") if one.strip())
    names = ", ".join(one.split("=")[0].strip() for one in sizes.split(";")[1:])
    first = "x = self.linear(x)" if base is GEMM else "x = self.conv(x)"
    two(number, name, sizes, names, "\n".join([base[2], *([keeps] if keeps else [])]), first + "\n" + does, arguments, inputs or base[1])


BIAS2, BIAS3 = "self.bias = nn.Parameter(torch.randn(cout, 1, 1))", "self.bias = nn.Parameter(torch.randn(cout, 1, 1, 1))"
chain(1, "conv2d_relu_bias", CONV2, "", BIAS2, "return torch.relu(x) + self.bias")
chain(2, "turn2d_bias_clamp_scale_clamp_divide", TURN2, "o = 1; scale = 2.0", BIAS2 + "\nself.scale = scale",
      "x = torch.clamp(x + self.bias, min=0.0, max=1.0)\nx = torch.clamp(x * self.scale, min=0.0, max=1.0)\nreturn x / self.scale")
chain(3, "turn3d_sum_layer_norm_pool_gelu", TURN3, "start = 1.0", "self.add = nn.Parameter(torch.tensor(start))\nself.norm = nn.LayerNorm((11,))\n"
      "self.pool = nn.AvgPool3d(kernel_size=(2, 2, 2))\nself.gelu = nn.GELU()", "return self.gelu(self.pool(self.norm(x + self.add)))")
chain(4, "conv2d_mish_mish", CONV2, "", "", "return F.mish(F.mish(x))")
chain(5, "turn2d_subtract_tanh", TURN2, "", BIAS2, "return torch.tanh(x - self.bias)")
chain(6, "conv3d_softmax_pool_pool", CONV3, "pool = 2", "self.pool1 = nn.MaxPool3d(pool)\nself.pool2 = nn.MaxPool3d(pool)",
      "return self.pool2(self.pool1(torch.softmax(x, dim=1)))")
chain(7, "conv3d_activations_bias", CONV3, "", BIAS3,
      "x = F.leaky_relu(torch.relu(x), negative_slope=0.01)\nreturn torch.sigmoid(F.gelu(x)) + self.bias")
chain(8, "conv3d_divide_max_pool_bias_sum", CONV3, "divisor = 2.0", BIAS3 + "\nself.divisor = divisor\nself.pool = nn.MaxPool3d((2, 2, 2))\n"
      "self.average = nn.AdaptiveAvgPool3d((1, 1, 1))", "x = self.average(self.pool(x / self.divisor)) + self.bias\nreturn torch.sum(x, dim=1)")
chain(9, "gemm_subtract_multiply_relu", GEMM, "less = 2.0; times = 1.5", "self.less = less\nself.times = times",
      "return torch.relu((x - self.less) * self.times)")
chain(10, "turn2d_pool_hardtanh_mean_tanh", TURN2, "low = -1; high = 1",
      "self.pool = nn.MaxPool2d(kernel_size=2, stride=2)\nself.limit = nn.Hardtanh(min_val=low, max_val=high)",
      "x = self.limit(self.pool(x))\nreturn torch.tanh(torch.mean(x, dim=(2, 3), keepdim=True))")
chain(11, "turn2d_batch_norm_tanh_pool_group_norm", TURN2, "groups = 4", "self.norm = nn.BatchNorm2d(cout)\nself.tanh = nn.Tanh()\n"
      "self.pool = nn.MaxPool2d(kernel_size=2, stride=2)\nself.group = nn.GroupNorm(num_groups=groups, num_channels=cout)",
      "return self.group(self.pool(self.tanh(self.norm(x))))")
chain(12, "gemm_multiply_leaky_relu", GEMM, "times = 2.0; slope = 0.1", "self.times = times\nself.leaky = nn.LeakyReLU(slope)", "return self.leaky(x * self.times)")
chain(13, "turn3d_mean_add_softmax_tanh_scale", TURN3, "scale = 2.0", "self.bias = nn.Parameter(torch.randn(1, 1, 1, 1, 1))\nself.scale = scale",
      "x = torch.mean(x, dim=1, keepdim=True) + self.bias\nreturn torch.tanh(torch.softmax(x, dim=1)) * self.scale")
two(14, "gemm_divide_sum_scale", "batch = 16; cin = 48; hidden = 32; scale = 1.5", "cin, hidden, scale",
    "self.weight = nn.Parameter(torch.randn(hidden, cin))\nself.scale = scale",
    "x = torch.matmul(x, self.weight.T) / 2\nreturn torch.sum(x, dim=1, keepdim=True) * self.scale", "x", "torch.rand(batch, cin)")
chain(15, "turn3d_batch_norm_subtract", TURN3, "", "self.norm = nn.BatchNorm3d(cout)",
      "x = self.norm(x)\nreturn x - torch.mean(x, dim=(2, 3, 4), keepdim=True)")
chain(16, "turn2d_mish_add_hardtanh_scale", TURN2, "o = 1; add = 0.5; scale = 2", "self.add = add\nself.scale = scale",
      "return F.hardtanh(F.mish(x) + self.add, min_val=-1, max_val=1) * self.scale")
chain(17, "conv2d_instance_norm_divide", CONV2, "divisor = 2.0", "self.norm = nn.InstanceNorm2d(cout)\nself.divisor = divisor", "return self.norm(x) / self.divisor")
chain(18, "gemm_sum_max_mean_logsumexp", GEMM, "", "",
      "x = torch.sum(x, dim=1, keepdim=True)\nx = torch.max(x, dim=1, keepdim=True)[0]\nx = torch.mean(x, dim=1, keepdim=True)\n"
      "x = torch.logsumexp(x, dim=1, keepdim=True)\nreturn torch.logsumexp(x, dim=1, keepdim=True)")
chain(19, "turn2d_gelu_group_norm", TURN2, "groups = 4", "self.norm = nn.GroupNorm(num_groups=groups, num_channels=cout)", "return self.norm(F.gelu(x))")
chain(20, "turn3d_sum_residuals", TURN3, "", BIAS3, "kept = x.clone().detach()\nx = x + self.bias\nx = x + kept\nx = x * kept\nreturn x + kept")
chain(21, "conv2d_add_scale_sigmoid_group_norm", CONV2, "groups = 4",
      BIAS2 + "\nself.scale = nn.Parameter(torch.randn(cout, 1, 1))\nself.norm = nn.GroupNorm(groups, cout)", "return self.norm(torch.sigmoid((x + self.bias) * self.scale))")
chain(22, "gemm_scale_residual_clamp_logsumexp_mish", GEMM, "scale = 2.0; low = -10.0; high = 10.0", "self.scale = scale\nself.low = low\nself.high = high",
      "x = x * self.scale\nx = torch.clamp(x + x, self.low, self.high)\nx = torch.logsumexp(x, dim=1, keepdim=True)\nreturn x * F.mish(x)")
chain(23, "conv3d_group_norm_mean", CONV3, "groups = 4", "self.norm = nn.GroupNorm(groups, cout)", "x = self.norm(x)\nreturn x.mean(dim=[1, 2, 3, 4])")
chain(24, "conv3d_min_softmax", CONV3, "dim = 2", "self.dim = dim", "return torch.softmax(torch.min(x, dim=self.dim)[0], dim=1)")
chain(25, "conv2d_min_tanh_tanh", CONV2, "", "", "return torch.tanh(torch.tanh(torch.min(x, dim=1, keepdim=True)[0]))")
chain(26, "turn3d_add_hardswish", TURN3, "", BIAS3, "x = x + more\nreturn x * F.hardswish(x)", "x, more",
      "torch.rand(batch, cin, 4, 5, 6), torch.rand(batch, cout, 7, 9, 11)")
chain(27, "conv3d_hardswish_group_norm_mean", CONV3, "groups = 4", "self.norm = nn.GroupNorm(groups, cout)",
      "x = self.norm(F.hardswish(x))\nreturn torch.mean(x, dim=[2, 3, 4])")
two(28, "bmm_instance_norm_sum_residual_multiply", "batch = 16; cin = 32; cout = 32; eps = 1e-5", "cin, cout, eps",
    "self.bmm = nn.Linear(cin, cout)\nself.norm = nn.InstanceNorm2d(cout, eps=eps)",
    "x = self.bmm(x)\nx = self.norm(x.unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1)\nx = x + y\nreturn x * y", "x, y",
    "torch.rand(batch, cin), torch.rand(batch, cout)")
chain(29, "gemm_mish_mish", GEMM, "", "", "return F.mish(F.mish(x))")
chain(30, "gemm_group_norm_hardtanh", GEMM, "groups = 4; low = -2.0; high = 2.0",
      "self.norm = nn.GroupNorm(groups, cout)\nself.limit = nn.Hardtanh(min_val=low, max_val=high)", "return self.limit(self.norm(x))")
chain(31, "conv2d_min_add_multiply", CONV2, "constant = 0.5; scale = 2.0", BIAS2 + "\nself.constant = constant\nself.scale = scale",
      "x = torch.min(x, torch.tensor(self.constant))\nreturn (x + self.bias) * self.scale")
chain(32, "conv2d_scale_min", CONV2, "scale = 2.0", "self.scale = scale", "return torch.min(x * self.scale, dim=1, keepdim=True)[0]")
chain(33, "gemm_scale_batch_norm", GEMM, "", "self.scale = nn.Parameter(torch.randn(cout))\nself.norm = nn.BatchNorm1d(cout)", "return self.norm(x * self.scale)")
chain(34, "turn3d_layer_norm_gelu_scale", TURN3, "eps = 1e-5; scale = 2.0", "self.norm = nn.LayerNorm(11, eps=eps)\nself.scale = scale",
      "return F.gelu(self.norm(x)) * self.scale")
chain(35, "conv2d_subtract_hardswish_pool_mish", CONV2, "less = 0.5; pool = 2", "self.less = less\nself.pool = nn.MaxPool2d(pool)",
      "return F.mish(self.pool(F.hardswish(x - self.less)))")
chain(36, "turn2d_min_sum_gelu_add", TURN2, "o = 1", "self.bias = nn.Parameter(torch.randn(1, 1, 1))",
      "x = torch.min(x, dim=1, keepdim=True)[0]\nx = torch.sum(x, dim=2, keepdim=True)\nreturn F.gelu(x) + self.bias")
chain(37, "gemm_swish_sum_group_norm", GEMM, "groups = 4", "self.bias = nn.Parameter(torch.randn(cout))\nself.norm = nn.GroupNorm(groups, cout)",
      "return self.norm(torch.sigmoid(x) * x + self.bias)")
two(38, "pool_turn3d_clamp_softmax_scale", "batch = 2; cin = 3; cout = 8; k = 3; s = 2; p = 1; o = 1; pool = 2; low = 0.0; high = 1.0",
    "cin, cout, k, s, p, o, pool, low, high",
    "self.pool = nn.AvgPool3d(pool)\nself.conv = nn.ConvTranspose3d(cin, cout, k, stride=s, padding=p, output_padding=o)\nself.low = low\nself.high = high\n"
    "self.scale = nn.Parameter(torch.ones(1, cout, 1, 1, 1))",
    "x = torch.clamp(self.conv(self.pool(x)), self.low, self.high)\nb, c, d, h, w = x.shape\nx = torch.softmax(x.view(b, c, -1), dim=2)\n"
    "return x.view(b, c, d, h, w) * self.scale", "x", "torch.rand(batch, cin, 6, 8, 6)")
chain(39, "gemm_scale_batch_norm_eps", GEMM, "eps = 1e-5; momentum = 0.1",
      "self.scale = nn.Parameter(torch.randn(cout))\nself.norm = nn.BatchNorm1d(cout, eps=eps, momentum=momentum)", "return self.norm(x * self.scale)")
chain(40, "gemm_scale_residual", GEMM, "scale = 0.5", "self.scale = scale", "kept = x.clone().detach()\nx = x * self.scale\nreturn x + kept")
chain(41, "gemm_batch_norm_gelu_relu", GEMM, "", "self.norm = nn.BatchNorm1d(cout)", "return torch.relu(F.gelu(self.norm(x)))")
chain(42, "turn2d_average_bias_logsumexp_sum", TURN2, "", BIAS2,
      "x = torch.mean(x, dim=(2, 3), keepdim=True) + self.bias\nx = torch.logsumexp(x, dim=1, keepdim=True)\nreturn torch.sum(x, dim=(2, 3)) * 10.0")
chain(43, "conv3d_pool_logsumexp_relu", CONV3, "", "self.pool = nn.MaxPool3d(kernel_size=2, stride=2)",
      "return torch.relu(torch.logsumexp(self.pool(x), dim=1, keepdim=True))")
chain(44, "turn2d_multiply_averages", TURN2, "o = 1; times = 0.5", "self.times = times",
      "x = torch.mean(x * self.times, dim=[2, 3], keepdim=True)\nreturn torch.mean(x, dim=[2, 3], keepdim=True)")
two(45, "gemm_sigmoid_gemm_logsumexp", "batch = 16; cin = 48; hidden = 32; cout = 20", "cin, hidden, cout",
    "self.linear1 = nn.Linear(cin, hidden)\nself.linear2 = nn.Linear(hidden, cout)",
    "x = self.linear2(torch.sigmoid(self.linear1(x)))\nreturn torch.logsumexp(x, dim=1)", "x", "torch.rand(batch, cin)")
chain(46, "conv2d_subtract_tanh_subtract_pool", CONV2, "first = 0.5; second = 0.2; pool = 2",
      "self.first = first\nself.second = second\nself.pool = nn.AvgPool2d(pool)", "return self.pool(torch.tanh(x - self.first) - self.second)")
chain(47, "conv3d_mish_tanh", CONV3, "s = 1; p = 0", "", "return torch.tanh(F.mish(x))")
chain(48, "conv3d_scale_tanh_multiply_sigmoid", CONV3, "scale = 2", BIAS3 + "\nself.scale = nn.Parameter(torch.randn(cout, 1, 1, 1))",
      "return torch.sigmoid(torch.tanh(x * self.scale) * self.bias)")
chain(49, "turn3d_softmax_sigmoid", TURN3, "o = 1", "self.softmax = nn.Softmax(dim=1)\nself.sigmoid = nn.Sigmoid()", "return self.sigmoid(self.softmax(x))")
chain(50, "turn3d_scale_pool_bias_scale", TURN3, "scale1 = 0.5; scale2 = 1.5",
      BIAS3 + "\nself.scale1 = nn.Parameter(torch.tensor(scale1))\nself.scale2 = nn.Parameter(torch.tensor(scale2))\nself.pool = nn.AvgPool3d(kernel_size=2)",
      "return (self.pool(x * self.scale1) + self.bias) * self.scale2")
two(51, "gemm_subtract_average_logsumexp_gelu_residual", GEMM[0], "cin, cout", GEMM[2] + "\nself.less = nn.Parameter(torch.randn(cout))",
    "kept = x.clone().detach()\nx = torch.mean(self.linear(x) - self.less, dim=1, keepdim=True)\nx = F.gelu(torch.logsumexp(x, dim=1, keepdim=True))\n"
    "return x + kept", "x", GEMM[1])
chain(52, "conv2d_activation_batch_norm", CONV2, "eps = 1e-5; momentum = 0.1", "self.norm = nn.BatchNorm2d(cout, eps=eps, momentum=momentum)",
      "x = torch.multiply(torch.tanh(F.softplus(x)), x)\nreturn self.norm(x)")
chain(53, "gemm_scale_hardtanh_gelu", GEMM, "scale = 0.5; low = -2; high = 2",
      "self.scale = scale\nself.limit = nn.Hardtanh(min_val=low, max_val=high)\nself.gelu = nn.GELU()", "return self.gelu(self.limit(x * self.scale))")
chain(54, "conv2d_multiply_leaky_relu_gelu", CONV2, "", "self.times = nn.Parameter(torch.randn(cout, 1, 1))\nself.leaky = nn.LeakyReLU()",
      "return F.gelu(self.leaky(x * self.times))")
chain(55, "gemm_pool_sum_scale", GEMM, "pool = 2; scale = 0.5", "self.pool = nn.MaxPool1d(pool)\nself.scale = scale",
      "x = self.pool(x.unsqueeze(1)).squeeze(1)\nreturn torch.sum(x, dim=1) * self.scale")
chain(56, "gemm_sigmoid_sum", GEMM, "", "", "return torch.sum(torch.sigmoid(x), dim=1, keepdim=True)")
chain(57, "conv2d_relu_hardswish", CONV2, "", "", "x = torch.relu(x)\nreturn x * torch.clamp((x + 3) / 6, 0, 1)")
chain(58, "turn3d_logsumexp_hardswish_subtract_clamp", TURN3, "", "self.bias = nn.Parameter(torch.randn(1, 1, 1, 1))",
      "x = torch.logsumexp(x, dim=1, keepdim=True)\nx = x * torch.sigmoid(x + 3) / 6\nreturn torch.clamp(x - self.bias, min=-1, max=1)")
chain(59, "gemm_swish_scale", GEMM, "scale = 2.0", "self.scale = scale", "return x * torch.sigmoid(x) * self.scale")
chain(60, "turn3d_swish_group_norm_hardswish", TURN3, "groups = 4; eps = 1e-5", "self.norm = nn.GroupNorm(num_groups=groups, num_channels=cout, eps=eps)",
      "return F.hardswish(self.norm(torch.sigmoid(x) * x))")
chain(61, "turn3d_relu_group_norm", ("batch = 2; cin = 3; cout = 8; k = 3", TURN3[1], "self.conv = nn.ConvTranspose3d(cin, cout, k, bias=False)"), "groups = 4",
      "self.relu = nn.ReLU()\nself.norm = nn.GroupNorm(num_groups=groups, num_channels=cout)", "return self.norm(self.relu(x))")
chain(62, "gemm_group_norm_leaky_relu_sum", GEMM, "groups = 4; eps = 1e-5; slope = 0.01",
      "self.norm = nn.GroupNorm(num_groups=groups, num_channels=cout, eps=eps)\nself.leaky = nn.LeakyReLU(negative_slope=slope)",
      "x = self.leaky(self.norm(x))\nreturn x + x")
chain(63, "gemm_relu_divide", GEMM, "divisor = 2.0", "self.divisor = divisor", "return torch.relu(x) / self.divisor")
chain(64, "gemm_logsumexp_leaky_relu_gelu", GEMM, "", "",
      "x = torch.logsumexp(x, dim=1, keepdim=True)\nx = F.leaky_relu(F.leaky_relu(x, negative_slope=0.01), negative_slope=0.01)\nreturn F.gelu(F.gelu(x))")
chain(65, "conv2d_pool_sigmoid_sum", CONV2, "pool = 4", "self.pool = nn.AvgPool2d(pool)", "return torch.sum(torch.sigmoid(self.pool(x)), dim=[1, 2, 3])")
chain(66, "gemm_dropout_softmax", GEMM, "rate = 0.0", "self.dropout = nn.Dropout(rate)", "return torch.softmax(self.dropout(x), dim=1)")
chain(67, "conv2d_gelu_average", CONV2, "", "", "return F.adaptive_avg_pool2d(F.gelu(x), 1).squeeze(-1).squeeze(-1)")
chain(68, "gemm_min_subtract", GEMM, "constant = 2.0", "self.constant = nn.Parameter(torch.tensor(constant))", "return torch.min(x, self.constant) - self.constant")
chain(69, "conv2d_hardswish_relu", CONV2, "", "", "return torch.relu(F.hardswish(x))")
chain(70, "gemm_sigmoid_scale_residual", GEMM, "scale = 2.0", "self.scale = scale", "kept = x\nreturn torch.sigmoid(x) * self.scale + kept")
chain(71, "conv2d_divide_leaky_relu", CONV2, "divisor = 2", "self.divisor = divisor", "return F.leaky_relu(x / self.divisor, negative_slope=0.01)")
chain(72, "turn3d_batch_norm_pool_pool", TURN3, "", "self.norm = nn.BatchNorm3d(cout)\nself.pool1 = nn.AvgPool3d(kernel_size=2)\nself.pool2 = nn.AvgPool3d(kernel_size=2)",
      "return self.pool2(self.pool1(self.norm(x)))")
chain(73, "conv2d_batch_norm_scale", CONV2, "scale = 2.0", "self.norm = nn.BatchNorm2d(cout)\nself.scale = scale", "return self.norm(x) * self.scale")
chain(74, "turn3d_leaky_relu_multiply_pool", TURN3, "o = 1", "self.times = nn.Parameter(torch.randn(cout, 1, 1, 1))\nself.leaky = nn.LeakyReLU(negative_slope=0.2)\n"
      "self.pool = nn.MaxPool3d(kernel_size=2)", "return self.pool(self.leaky(self.leaky(x) * self.times))")
chain(75, "gemm_group_norm_min_bias", GEMM, "groups = 4", "self.norm = nn.GroupNorm(groups, cout)\nself.bias = nn.Parameter(torch.randn(1, cout, 1, 1))",
      "return torch.min(self.norm(x), dim=1, keepdim=True)[0] + self.bias")
two(76, "gemm_add_relu", "batch = 16; cin = 48; cout = 32", "cin, cout", "self.linear = nn.Linear(cin, cout, bias=False)\nself.bias = nn.Parameter(torch.randn(cout))",
    "return torch.relu(self.linear(x) + self.bias)", "x", "torch.rand(batch, cin)")
chain(77, "turn3d_scale_batch_norm_average", TURN3, "scale = 2.0; eps = 1e-5; momentum = 0.1",
      "self.scale = scale\nself.norm = nn.BatchNorm3d(cout, eps=eps, momentum=momentum)\nself.average = nn.AdaptiveAvgPool3d((1, 1, 1))",
      "return self.average(self.norm(x * self.scale))")
chain(78, "turn3d_pool_pool_sum", TURN3, "", "self.pool1 = nn.MaxPool3d(kernel_size=2)\nself.pool2 = nn.MaxPool3d(kernel_size=3)",
      "return torch.sum(self.pool2(self.pool1(x)), dim=1, keepdim=True)")
chain(79, "conv3d_multiply_instance_norm_clamp_max", CONV3, "low = -1.0; high = 1.0",
      "self.times = nn.Parameter(torch.randn(cout, 1, 1, 1))\nself.norm = nn.InstanceNorm3d(cout)\nself.low = low\nself.high = high",
      "x = torch.clamp(self.norm(x * self.times), self.low, self.high) * self.times\nreturn torch.max(x, dim=1)[0]")
chain(80, "gemm_max_subtract_gelu", GEMM, "dim = 1", "self.dim = dim",
      "x = torch.max(x, dim=self.dim, keepdim=True).values\nx = x - x.mean(dim=1, keepdim=True)\nreturn F.gelu(x)")
chain(81, "gemm_swish_divide_clamp_tanh_clamp", GEMM, "", "",
      "x = x * torch.sigmoid(x) / 2.0\nx = torch.tanh(torch.clamp(x, min=-1.0, max=1.0))\nreturn torch.clamp(x, min=-1.0, max=1.0)")
chain(82, "conv2d_tanh_scale_bias_pool", CONV2, "scale = 2.0; pool = 4", BIAS2 + "\nself.scale = scale\nself.pool = nn.MaxPool2d(pool)",
      "return self.pool(torch.tanh(x) * self.scale + self.bias)")
chain(83, "conv3d_group_norm_min_clamp_dropout", CONV3, "groups = 4; low = 0.0; high = 1.0; rate = 0.0",
      "self.norm = nn.GroupNorm(groups, cout)\nself.low = low\nself.high = high\nself.dropout = nn.Dropout(rate)",
      "x = torch.min(self.norm(x), torch.tensor(self.low, device=x.device))\nreturn self.dropout(torch.clamp(x, min=self.low, max=self.high))")
chain(84, "gemm_batch_norm_scale_softmax", GEMM, "", "self.norm = nn.BatchNorm1d(cout)\nself.scale = nn.Parameter(torch.ones((1,)))\nself.softmax = nn.Softmax(dim=1)",
      "return self.softmax(self.scale * self.norm(x))")
chain(85, "conv2d_group_norm_scale_pool_clamp", CONV2, "groups = 4; pool = 4; low = 0.0; high = 1.0",
      "self.norm = nn.GroupNorm(groups, cout)\nself.scale = nn.Parameter(torch.ones((cout, 1, 1)))\nself.pool = nn.MaxPool2d(kernel_size=pool)\nself.low = low\nself.high = high",
      "return torch.clamp(self.pool(self.norm(x) * self.scale), self.low, self.high)")
chain(86, "gemm_divide_gelu", GEMM, "divisor = 10.0", "self.divisor = divisor", "return F.gelu(x / self.divisor)")
chain(87, "conv2d_subtract_subtract_mish", CONV2, "first = 0.5; second = 0.2", "self.first = first\nself.second = second",
      "return F.mish(x - self.first - self.second)")
chain(88, "gemm_group_norm_swish_multiply_swish", GEMM, "groups = 4", "self.norm = nn.GroupNorm(groups, cout)\nself.times = nn.Parameter(torch.randn(cout))",
      "x = self.norm(x)\nx = x * torch.sigmoid(x) * self.times\nreturn x * torch.sigmoid(x)")
chain(89, "turn3d_pool_softmax_subtract_swish_max", TURN3, "o = 1", "self.pool = nn.MaxPool3d(kernel_size=2, stride=2, padding=0)\nself.less = nn.Parameter(torch.randn(cout))",
      "x = torch.softmax(self.pool(x), dim=1)\nx = x - self.less.view(1, -1, 1, 1, 1)\nx = torch.sigmoid(x) * x\nreturn torch.max(x, dim=1)[0]")
chain(90, "conv3d_leaky_relu_sum_clamp_gelu", CONV3, "", "self.add = nn.Parameter(torch.randn(cout, 1, 1, 1))",
      "x = F.leaky_relu(x, negative_slope=0.2) + self.add\nreturn F.gelu(torch.clamp(x, min=-1.0, max=1.0))")
chain(91, "turn2d_softmax_bias_scale_sigmoid", TURN2, "o = 1; scale = 2.0", BIAS2 + "\nself.scale = scale",
      "return torch.sigmoid((torch.softmax(x, dim=1) + self.bias) * self.scale)")
chain(92, "conv2d_group_norm_tanh_hardswish_residual_logsumexp", CONV2, "groups = 4; eps = 1e-5",
      "self.norm = nn.GroupNorm(groups, cout, eps=eps)\nself.tanh = nn.Tanh()\nself.swish = nn.Hardswish()",
      "kept = x\nx = kept + self.swish(self.tanh(self.norm(x)))\nreturn torch.logsumexp(x, dim=1, keepdim=True)")
chain(93, "turn2d_add_min_gelu_multiply", TURN2, "add = 0.5; times = 2.0", "self.add = add\nself.times = times",
      "x = torch.min(x + self.add, torch.tensor(0.0, device=x.device))\nreturn F.gelu(x) * self.times")
chain(94, "gemm_bias_hardtanh_mish_group_norm", GEMM, "groups = 4",
      "self.bias = nn.Parameter(torch.randn(cout))\nself.limit = nn.Hardtanh()\nself.mish = nn.Mish()\nself.norm = nn.GroupNorm(num_groups=groups, num_channels=cout)",
      "return self.norm(self.mish(self.limit(x + self.bias)))")
chain(95, "gemm_add_swish_tanh_gelu_hardtanh", GEMM, "", "self.add = nn.Parameter(torch.randn(cout))",
      "x = x + self.add\nx = torch.tanh(torch.sigmoid(x) * x)\nreturn F.hardtanh(F.gelu(x), min_val=-1, max_val=1)")
chain(96, "turn3d_multiply_pool_average_clamp", TURN3, "scale = 0.5; pool = 2",
      "self.scale = scale\nself.pool = nn.MaxPool3d(kernel_size=pool)\nself.average = nn.AdaptiveAvgPool3d((1, 1, 1))",
      "return torch.clamp(self.average(self.pool(x * self.scale)), min=0, max=1)")
chain(97, "gemm_batch_norm_bias_divide_swish", GEMM, "divisor = 1.0", "self.norm = nn.BatchNorm1d(cout)\nself.bias = nn.Parameter(torch.randn(1))\nself.divisor = divisor",
      "x = (self.norm(x) + self.bias) / self.divisor\nreturn x * torch.sigmoid(x)")
chain(98, "gemm_pool_gelu_scale_max", GEMM, "pool = 4; scale = 2.0", "self.pool = nn.AvgPool1d(kernel_size=pool)\nself.scale = scale",
      "x = F.gelu(self.pool(x.unsqueeze(1)).squeeze(1)) * self.scale\nreturn torch.max(x, dim=1).values")
chain(99, "gemm_gelu_softmax", GEMM, "", "", "return F.softmax(F.gelu(x), dim=1)")
chain(100, "turn3d_clamp_divide", TURN3, "low = -1.0; divisor = 2.0", "self.low = low\nself.divisor = divisor",
      "return torch.clamp(x, min=self.low) / self.divisor")
