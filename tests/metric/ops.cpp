#include "ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/builder.h"
#include "graph/compose_matmul.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"

namespace kw::metric {

using graph::Builder;
using graph::Graph;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

namespace {

Operand of(NodeId id) { return Operand::tensor(id); }

Result<Graph> finished(Builder& b, NodeId y) { return std::move(b).finish({{"y", y}}); }

// --- sum, var, norm ---------------------------------------------------------------------------

Result<Graph> build_sum(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  return finished(b, KW_TRY(graph::sum(b, x, {1}, false)));
}

std::vector<float> model_sum(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r)
    y.push_back(sum(s, p.cols, [&](int64_t k) { return p.in(0, r * p.cols + k); }));
  return y;
}

struct Moments {
  float mean, squares;  // sum of squared deviations
};

Moments welford(const Style& s, int64_t n, const std::function<float(int64_t)>& x) {
  // 32 lanes, merged in pairs.
  struct Part {
    float n, mean, squares;
  };
  std::vector<Part> parts(32, Part{0, 0, 0});
  for (int64_t k = 0; k < n; ++k) {
    Part& part = parts[static_cast<size_t>(k % 32)];
    const float v = x(k);
    part.n += 1;
    const float delta = v - part.mean;
    part.mean = part.mean + divide(s, delta, part.n);
    part.squares = multiply_add(s, delta, v - part.mean, part.squares);
  }
  for (size_t step = 16; step > 0; step /= 2) {
    for (size_t k = 0; k < step; ++k) {
      Part &a = parts[k], &b = parts[k + step];
      const float count = a.n + b.n;
      if (count == 0) continue;
      const float delta = b.mean - a.mean, share = divide(s, b.n, count);
      a.mean = a.mean + delta * share;
      a.squares = a.squares + b.squares + delta * delta * a.n * share;
      a.n = count;
    }
  }
  return {parts[0].mean, parts[0].squares};
}

Moments moments(const Style& s, int64_t n, const std::function<float(int64_t)>& x) {
  const auto count = static_cast<float>(n);
  if (s.formula == Formula::Other) return welford(s, n, x);
  const float mean = divide(s, sum(s, n, x), count);
  if (s.formula == Formula::Risky) {
    const float squares = dot(s, n, x, x);
    return {mean, squares - count * mean * mean};
  }
  const auto centred = [&](int64_t k) { return x(k) - mean; };
  return {mean, dot(s, n, centred, centred)};
}

Result<Graph> build_var(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  return finished(b, KW_TRY(graph::var(b, x, {1}, 0, false)));
}

std::vector<float> model_var(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    y.push_back(divide(s, moments(s, p.cols, row).squares, static_cast<float>(p.cols)));
  }
  return y;
}

Result<Graph> build_norm(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  return finished(b, KW_TRY(graph::vector_norm(b, x, 2, {1}, false)));
}

std::vector<float> model_norm(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    y.push_back(sqrt(s, dot(s, p.cols, row, row)));
  }
  return y;
}

// A dot product whose products are declared in the input's type and whose sum is fp32: kernels may
// round the products or keep them.
Result<Graph> build_half_dot(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols}), z = b.input("z", dtype, {rows, cols});
  const NodeId product = KW_TRY(b.binary(Op::Mul, of(x), of(z)));
  return finished(b, KW_TRY(graph::sum(b, product, {1}, false, DType::Fp32)));
}

std::vector<float> model_half_dot(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto x = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    const auto z = [&](int64_t k) { return p.in(1, r * p.cols + k); };
    if (s.formula == Formula::Other) {
      y.push_back(sum(s, p.cols, [&](int64_t k) {
        const float product = x(k) * z(k);
        return rounded(p.dtype, static_cast<double>(product));
      }));
    } else {
      y.push_back(dot(s, p.cols, x, z));
    }
  }
  return y;
}

// --- softmax, logsumexp -----------------------------------------------------------------------

Result<Graph> build_softmax(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  return finished(b, KW_TRY(graph::softmax(b, x, 1)));
}

struct Exponentials {
  float most = 0, total = 0;
};

constexpr float kLog2E = 1.44269504f;

// exp(x - most). Without fused multiply-add the folded form loses the digits of a large x.
float exponential(const Style& s, float x, float most) {
  if (s.formula == Formula::Risky) return exp(s, x);
  if (s.formula == Formula::Other && s.fused) return exp2(s, std::fma(x, kLog2E, -(most * kLog2E)));
  if (s.formula == Formula::Other) return exp2(s, (x - most) * kLog2E);
  return exp(s, x - most);
}

// 32 lanes, each scaling its sum whenever its maximum grows, then brought to the same maximum.
float online(const Style& s, int64_t n, float most, const std::function<float(int64_t)>& x) {
  float all = 0;
  for (int64_t lane = 0; lane < std::min<int64_t>(n, 32); ++lane) {
    float total = 1, largest = x(lane);
    for (int64_t k = lane + 32; k < n; k += 32) {
      const float next = std::max(largest, x(k));
      const float scale = exp2(s, (largest - next) * kLog2E);
      total = multiply_add(s, total, scale, exponential(s, x(k), next));
      largest = next;
    }
    all = multiply_add(s, total, exp2(s, (largest - most) * kLog2E), all);
  }
  return all;
}

Exponentials exponentials(const Style& s, int64_t n, const std::function<float(int64_t)>& x) {
  Exponentials e;
  e.most = -std::numeric_limits<float>::infinity();
  for (int64_t k = 0; k < n; ++k) e.most = std::max(e.most, x(k));
  if (s.formula == Formula::Other && s.order == Order::Serial) {
    e.total = online(s, n, e.most, x);
    return e;
  }
  e.total = sum(s, n, [&](int64_t k) { return exponential(s, x(k), e.most); });
  return e;
}

std::vector<float> model_softmax(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    const Exponentials e = exponentials(s, p.cols, row);
    for (int64_t k = 0; k < p.cols; ++k)
      y.push_back(divide(s, exponential(s, row(k), e.most), e.total));
  }
  return y;
}

Result<Graph> build_logsumexp(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  return finished(b, KW_TRY(graph::logsumexp(b, x, {1}, false)));
}

std::vector<float> model_logsumexp(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    const Exponentials e = exponentials(s, p.cols, row);
    y.push_back(s.formula == Formula::Risky ? log(s, e.total) : log(s, e.total) + e.most);
  }
  return y;
}

// --- normalisation ----------------------------------------------------------------------------

constexpr double kEps = 1e-5;

Result<Graph> build_layer_norm(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  const NodeId weight = b.input("weight", dtype, {cols}), bias = b.input("bias", dtype, {cols});
  return finished(b, KW_TRY(graph::layer_norm(b, x, {cols}, weight, bias, kEps)));
}

std::vector<float> model_layer_norm(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    const Moments m = moments(s, p.cols, row);
    const float scale =
        rsqrt(s, divide(s, m.squares, static_cast<float>(p.cols)) + static_cast<float>(kEps));
    for (int64_t k = 0; k < p.cols; ++k) {
      const float w = p.in(1, k), b = p.in(2, k);
      if (s.formula == Formula::Other) {
        const float factor = scale * w;
        y.push_back(multiply_add(s, row(k), factor, multiply_add(s, -m.mean, factor, b)));
      } else {
        y.push_back(multiply_add(s, (row(k) - m.mean) * scale, w, b));
      }
    }
  }
  return y;
}

Result<Graph> build_rms_norm(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  const NodeId weight = b.input("weight", dtype, {cols});
  return finished(b, KW_TRY(graph::rms_norm(b, x, {cols}, weight, kEps)));
}

std::vector<float> model_rms_norm(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    const float mean = divide(s, dot(s, p.cols, row, row), static_cast<float>(p.cols));
    const float moved = mean + static_cast<float>(kEps);
    for (int64_t k = 0; k < p.cols; ++k) {
      const float scaled = s.formula == Formula::Other ? divide(s, row(k), sqrt(s, moved))
                                                       : row(k) * rsqrt(s, moved);
      y.push_back(scaled * p.in(1, k));
    }
  }
  return y;
}

// --- pointwise --------------------------------------------------------------------------------

Result<Graph> build_gelu(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId in = b.input("x", dtype, {rows, cols});
  const NodeId x = b.cast(in, graph::opmath(dtype));
  const NodeId inner = KW_TRY(b.binary(Op::Mul, of(x), Operand::of(0.70710678118654752)));
  const NodeId erf = KW_TRY(b.unary(Op::Erf, inner));
  const NodeId half = KW_TRY(b.binary(Op::Mul, of(x), Operand::of(0.5)));
  const NodeId plus = KW_TRY(b.binary(Op::Add, of(erf), Operand::of(1.0)));
  return finished(b, b.cast(KW_TRY(b.binary(Op::Mul, of(half), of(plus))), dtype));
}

std::vector<float> model_gelu(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (const float raw : p.inputs[0]) {
    const float x = s.inside == DType::Fp32 ? raw : rounded(s.inside, static_cast<double>(raw));
    if (s.formula == Formula::Risky) {
      const float inner = 0.797884561f * multiply_add(s, 0.044715f * x * x, x, x);
      y.push_back(0.5f * x * (1 + tanh(s, inner)));
    } else if (s.formula == Formula::Other) {
      const float half = 0.5f * x;
      y.push_back(multiply_add(s, half, erf(s, x * 0.707106781f), half));
    } else {
      y.push_back(x * 0.5f * (1 + erf(s, x * 0.707106781f)));
    }
  }
  return y;
}

Result<Graph> build_silu(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId in = b.input("x", dtype, {rows, cols});
  const NodeId x = b.cast(in, graph::opmath(dtype));
  const NodeId gate = KW_TRY(b.unary(Op::Sigmoid, x));
  return finished(b, b.cast(KW_TRY(b.binary(Op::Mul, of(x), of(gate))), dtype));
}

std::vector<float> model_silu(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (const float raw : p.inputs[0]) {
    const float x = s.inside == DType::Fp32 ? raw : rounded(s.inside, static_cast<double>(raw));
    if (s.formula == Formula::Other) {
      y.push_back(divide(s, x, 1 + exp(s, -x)));
    } else {
      y.push_back(x * divide(s, 1, 1 + exp(s, -x)));
    }
  }
  return y;
}

// --- scan, product ----------------------------------------------------------------------------

Result<Graph> build_cumsum(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols});
  return finished(b, KW_TRY(b.scan(Op::CumSum, x, 1)));
}

std::vector<float> model_cumsum(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto row = [&](int64_t k) { return p.in(0, r * p.cols + k); };
    if (s.formula == Formula::Other) {
      // Blocks of 64: a scan inside, the carry added to all of it.
      float carry = 0;
      for (int64_t first = 0; first < p.cols; first += 64) {
        float block = 0;
        for (int64_t k = first; k < std::min(p.cols, first + 64); ++k) {
          block = block + row(k);
          y.push_back(carry + block);
        }
        carry = carry + block;
      }
    } else {
      float total = 0;
      for (int64_t k = 0; k < p.cols; ++k) {
        total = s.accumulate == DType::Fp32
                    ? total + row(k)
                    : rounded(s.accumulate, static_cast<double>(total + row(k)));
        y.push_back(total);
      }
    }
  }
  return y;
}

constexpr int64_t kColumns = 8;

Result<Graph> build_matmul(DType dtype, int64_t rows, int64_t cols) {
  Builder b;
  const NodeId x = b.input("x", dtype, {rows, cols}), z = b.input("z", dtype, {cols, kColumns});
  return finished(b, KW_TRY(b.matmul(x, z)));
}

std::vector<float> model_matmul(const Problem& p, const Style& s) {
  std::vector<float> y;
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      y.push_back(dot(
          s, p.cols, [&](int64_t k) { return p.in(0, r * p.cols + k); },
          [&](int64_t k) { return p.in(1, k * kColumns + c); }));
    }
  }
  return y;
}

constexpr StudyOp kOps[] = {
    {"sum", build_sum, model_sum, true, false, false, false, false},
    {"norm", build_norm, model_norm, true, true, true, false, false},
    {"var", build_var, model_var, true, true, true, true, true},
    {"half_dot", build_half_dot, model_half_dot, true, true, false, true, false},
    {"softmax", build_softmax, model_softmax, true, false, true, true, true},
    {"logsumexp", build_logsumexp, model_logsumexp, true, false, true, true, true},
    {"layer_norm", build_layer_norm, model_layer_norm, true, true, true, true, true},
    {"rms_norm", build_rms_norm, model_rms_norm, true, true, true, true, false},
    {"gelu", build_gelu, model_gelu, false, true, false, true, true},
    {"silu", build_silu, model_silu, false, false, true, true, false},
    {"cumsum", build_cumsum, model_cumsum, false, false, false, true, false},
    {"matmul", build_matmul, model_matmul, true, true, false, false, false},
};

}  // namespace

std::span<const StudyOp> study_ops() { return kOps; }

}  // namespace kw::metric
