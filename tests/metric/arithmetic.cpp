#include "arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "numeric/small_float.h"

namespace kw::metric {

using tensor::DType;

float rounded(DType type, double x) {
  switch (type) {
    case DType::Fp16:
      return numeric::fp16_to_float(numeric::double_to_fp16(x));
    case DType::Bf16:
      return numeric::bf16_to_float(numeric::double_to_bf16(x));
    default:
      return static_cast<float>(x);
  }
}

namespace {

float to_tf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u);
}

float operand(const Style& style, float x) {
  if (style.tf32) return to_tf32(x);
  return style.inside == DType::Fp32 ? x : rounded(style.inside, static_cast<double>(x));
}

float kept(const Style& style, float sum) {
  return style.accumulate == DType::Fp32 ? sum
                                         : rounded(style.accumulate, static_cast<double>(sum));
}

// One term of a sum: an element, or a product that may be fused into the addition.
struct Term {
  float x, y;
  bool product;
};

float add(const Style& style, float sum, const Term& term) {
  if (!term.product) return kept(style, sum + term.x);
  if (style.fused) return kept(style, std::fma(term.x, term.y, sum));
  const float product = term.x * term.y;
  return kept(style, sum + product);
}

float tree(const Style& style, std::vector<float> parts) {
  if (parts.empty()) return 0;
  while (parts.size() > 1) {
    for (size_t k = 0; k < parts.size() / 2; ++k)
      parts[k] = kept(style, parts[2 * k] + parts[2 * k + 1]);
    if (parts.size() % 2 != 0) parts[parts.size() / 2] = parts.back();
    parts.resize((parts.size() + 1) / 2);
  }
  return parts[0];
}

float cut_to_24_bits(double x) {
  const float nearest = static_cast<float>(x);
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
  return beyond ? std::nextafter(nearest, 0.0f) : nearest;
}

float truncated(int64_t count, const std::function<Term(int64_t)>& term) {
  float sum = 0;
  for (int64_t k = 0; k < count; k += 16) {
    double group = static_cast<double>(sum);
    for (int64_t j = k; j < std::min(count, k + 16); ++j) {
      const Term t = term(j);
      group += t.product ? static_cast<double>(t.x) * static_cast<double>(t.y)
                         : static_cast<double>(t.x);
    }
    sum = cut_to_24_bits(group);
  }
  return sum;
}

float in_parts(const Style& style, int64_t count, int64_t parts, int64_t part_size, int64_t step,
               bool as_tree, const std::function<Term(int64_t)>& term) {
  std::vector<float> sums(static_cast<size_t>(parts));
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t first = step > 1 ? p : p * part_size;
    const int64_t last = step > 1 ? count : std::min(count, first + part_size);
    for (int64_t k = first; k < last; k += step)
      sums[static_cast<size_t>(p)] = add(style, sums[static_cast<size_t>(p)], term(k));
  }
  if (as_tree) return tree(style, std::move(sums));
  float total = 0;
  for (const float s : sums) total = kept(style, total + s);
  return total;
}

float ordered(const Style& style, int64_t count, const std::function<Term(int64_t)>& term) {
  switch (style.order) {
    case Order::Serial:
      return in_parts(style, count, 1, count, 1, false, term);
    case Order::Reversed:
      return in_parts(style, count, 1, count, 1, false,
                      [&](int64_t k) { return term(count - 1 - k); });
    case Order::Strided:
      return in_parts(style, count, 128, 0, 128, true, term);
    case Order::Tree:
      return in_parts(style, count, count, 1, 1, true, term);
    case Order::Split:
      return in_parts(style, count, 8, (count + 7) / 8, 1, false, term);
    case Order::TwoLevel:
      return in_parts(style, count, (count + 31) / 32, 32, 1, true, term);
    case Order::Truncated:
      return truncated(count, term);
  }
  return 0;
}

float cut(const Style& style, int64_t count, const std::function<Term(int64_t)>& term) {
  const int64_t used = count - std::min(style.dropped, count - 1);
  if (style.sampled == 1 || used < 2) return ordered(style, used, term);
  const int64_t samples = (used + style.sampled - 1) / style.sampled;
  const float part = ordered(style, samples, [&](int64_t k) { return term(k * style.sampled); });
  return part * static_cast<float>(used) / static_cast<float>(samples);
}

// Somewhere between -1 and 1, the same for the same argument.
double wobble(float x, uint32_t salt) {
  uint64_t h = (uint64_t{std::bit_cast<uint32_t>(x)} << 32 | salt) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>(static_cast<int64_t>(h ^ h >> 32)) * 0x1p-63;
}

// `y` off by up to `relative` of itself, then rounded.
float off(double y, double relative, float x, uint32_t salt) {
  return static_cast<float>(y * (1 + relative * wobble(x, salt)));
}

constexpr double kUlp = 0x1p-23;

}  // namespace

float sum(const Style& style, int64_t count, const std::function<float(int64_t)>& x) {
  return cut(style, count, [&](int64_t k) { return Term{operand(style, x(k)), 1, false}; });
}

float dot(const Style& style, int64_t count, const std::function<float(int64_t)>& x,
          const std::function<float(int64_t)>& y) {
  return cut(style, count, [&](int64_t k) {
    return Term{operand(style, x(k)), operand(style, y(k)), true};
  });
}

float multiply_add(const Style& style, float x, float y, float z) {
  if (style.fused) return std::fma(x, y, z);
  const float product = x * y;
  return product + z;
}

float exp2(const Style& style, float x) {
  if (x == 0) return 1;  // exact everywhere
  const double relative = style.functions == Functions::Full ? kUlp : 2 * kUlp;
  return off(std::exp2(static_cast<double>(x)), relative, x, 1);
}

float exp(const Style& style, float x) {
  if (x == 0) return 1;
  if (style.functions == Functions::Approx) return exp2(style, x * 1.44269504f);
  return off(std::exp(static_cast<double>(x)), kUlp, x, 2);
}

float log(const Style& style, float x) {
  const double y = std::log(static_cast<double>(x));
  if (style.functions == Functions::Full) return off(y, kUlp, x, 3);
  const double error = x > 0.5f && x < 2.0f ? 0x1p-22 : 0x1p-22 * std::fabs(y);
  const float lg2 = static_cast<float>((y + error * 0.6931 * wobble(x, 4)) * 1.4426950408889634);
  return lg2 * 0.693147182f;
}

float erf(const Style&, float x) { return off(std::erf(static_cast<double>(x)), kUlp, x, 5); }

float tanh(const Style&, float x) { return off(std::tanh(static_cast<double>(x)), kUlp, x, 6); }

float rsqrt(const Style& style, float x) {
  const double y = 1 / std::sqrt(static_cast<double>(x));
  return off(y, style.functions == Functions::Full ? kUlp : 1.1 * kUlp, x, 7);
}

float sqrt(const Style& style, float x) {
  if (style.functions == Functions::Approx && x > 0)
    return off(std::sqrt(static_cast<double>(x)), kUlp, x, 8);
  return std::sqrt(x);
}

float divide(const Style& style, float x, float y) {
  if (style.functions == Functions::Full) return x / y;
  const float reciprocal = off(1 / static_cast<double>(y), kUlp / 2, y, 9);
  return x * reciprocal;
}

}  // namespace kw::metric
