// fp32 arithmetic as kernels do it: in which order sums are taken, whether products are fused, how
// good the functions are. A Style is one way to write a kernel; honest and dishonest ways differ in
// its fields only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tensor/dtype.h"

namespace kw::metric {

enum class Order : uint8_t {
  Serial,
  Reversed,
  Strided,   // 128 threads, each every 128th element, then a tree
  Tree,      // neighbours first
  Split,     // eight parts one after the other
  TwoLevel,  // blocks of 32, then a tree
  Truncated  // tensor cores: groups of 16 added exactly, then cut to 24 bits
};

enum class Functions : uint8_t {
  Full,   // as far off as CUDA's table of maximum errors says
  Approx  // ex2.approx, lg2.approx, rsqrt.approx, rcp.approx
};

enum class Formula : uint8_t {
  Plain,  // the reference's own
  Other,  // an equivalent one: Welford, online softmax, folded affine, x / (1 + exp(-x))
  Risky   // one that loses digits: one-pass variance, no maximum subtracted
};

struct Style {
  std::string name;
  Order order = Order::Serial;
  bool fused = false;
  Functions functions = Functions::Full;
  Formula formula = Formula::Plain;
  tensor::DType inside = tensor::DType::Fp32;      // what operands are rounded to first
  bool tf32 = false;                               // products of fp32 in tf32
  tensor::DType accumulate = tensor::DType::Fp32;  // what sums are rounded to
  int64_t dropped = 0;                             // elements at the end of every reduction
  int64_t sampled = 1;                             // only every n-th, scaled up
};

/// Rounded once to a float type.
float rounded(tensor::DType type, double x);

/// x[0] + x[1] + …
float sum(const Style& style, int64_t count, const std::function<float(int64_t)>& x);
/// x[0] * y[0] + …
float dot(const Style& style, int64_t count, const std::function<float(int64_t)>& x,
          const std::function<float(int64_t)>& y);
/// x * y + z, in one rounding or two.
float multiply_add(const Style& style, float x, float y, float z);

float exp(const Style& style, float x);
float exp2(const Style& style, float x);
float log(const Style& style, float x);
float erf(const Style& style, float x);
float tanh(const Style& style, float x);
float rsqrt(const Style& style, float x);
float sqrt(const Style& style, float x);
float divide(const Style& style, float x, float y);

}  // namespace kw::metric
