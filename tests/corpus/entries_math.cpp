// Host references of floating-point functions, roundings and conversions.
#include <cfenv>
#include <cmath>

#include "corpus.h"

namespace kw::corpus {
namespace {

void libm_float(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const float vf = c.in<float>("x")[i], pf = std::abs(vf) + 0.01f, uf = vf / (1 + std::abs(vf));
    const double v = vf, p = pf, u = uf;
    const double results[] = {
        std::sin(v),   std::cos(v),      std::tan(v),    std::exp(v),
        std::exp2(v),  std::expm1(v),    std::log(p),    std::log2(p),
        std::log10(p), std::log1p(p),    std::pow(p, u), std::erf(v),
        std::erfc(u),  std::tanh(v),     std::sinh(u),   std::cosh(u),
        std::atan(v),  std::atan2(v, p), std::asin(u),   std::acos(u),
        std::cbrt(v),  1 / std::sqrt(p), std::sqrt(p),   std::fmod(v, double{0.7f})};
    for (int64_t k = 0; k < 24; ++k) c.set("y", k * n + i, results[k]);
  }
}

void libm_double(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const double vd = c.in<double>("x")[i], pd = std::abs(vd) + 0.01, ud = vd / (1 + std::abs(vd));
    const long double v = vd, p = pd, u = ud;
    const long double results[] = {
        std::sin(v),  std::cos(v),
        std::tan(u),  std::exp(v),
        std::log(p),  std::pow(p, u),
        std::erf(v),  std::tanh(v),
        std::atan(v), std::asin(u),
        std::cbrt(v), std::sqrt(p),
        1 / p,        std::rint(v) + std::floor(v) + std::ceil(v) + std::trunc(v),
        v * p + u,    1 / std::sqrt(p)};
    for (int64_t k = 0; k < 16; ++k) c.set("y", k * n + i, static_cast<double>(results[k]));
  }
}

void fast_math(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const float vf = c.in<float>("x")[i], pf = std::abs(vf) + 0.01f;
    const double v = vf, p = pf;
    const double results[] = {std::exp(v),      std::log(p),  std::sin(v), std::cos(v), v / p,
                              1 / std::sqrt(p), std::exp2(v), 1 / p,       std::sqrt(p)};
    for (int64_t k = 0; k < 9; ++k) c.set("y", k * n + i, results[k]);
    c.set("t", i, std::tanh(v));
  }
}

/// Runs `f` under a rounding mode; volatile operands in it keep the compiler from computing early.
template <typename F>
auto rounded_math(int mode, F f) {
  std::fesetround(mode);
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

void rounding_modes(Case& c) {
  const int64_t n = c.dim("N");
  auto y = c.out<float>("y");
  auto whole = c.out<int32_t>("whole");
  auto wide = c.out<double>("wide");
  for (int64_t i = 0; i < n; ++i) {
    volatile float u = c.in<float>("a")[i], v = c.in<float>("b")[i];
    volatile double ud = u, vd = v, small = 1e-9 * vd, tenth = 0.1;
    y[0 * n + i] = rounded_math(FE_DOWNWARD, [&] { return u + v; });
    y[1 * n + i] = rounded_math(FE_UPWARD, [&] { return u + v; });
    y[2 * n + i] = rounded_math(FE_TOWARDZERO, [&] { return u + v; });
    y[3 * n + i] = rounded_math(FE_DOWNWARD, [&] { return u * v; });
    y[4 * n + i] = rounded_math(FE_UPWARD, [&] { return u * v; });
    y[5 * n + i] = rounded_math(FE_TOWARDZERO, [&] { return std::fma(+u, +v, +u); });
    y[6 * n + i] = u / v;
    y[7 * n + i] = rounded_math(FE_UPWARD, [&] { return u / v; });
    y[8 * n + i] = rounded_math(FE_DOWNWARD, [&] { return std::sqrt(std::abs(+u)); });
    y[9 * n + i] = rounded_math(FE_UPWARD, [&] { return static_cast<float>(ud * vd); });
    whole[0 * n + i] = static_cast<int32_t>(std::nearbyint(+u));
    whole[1 * n + i] = static_cast<int32_t>(std::trunc(+u));
    whole[2 * n + i] = static_cast<int32_t>(std::ceil(+v));
    whole[3 * n + i] = static_cast<int32_t>(std::floor(+v));
    wide[0 * n + i] = rounded_math(FE_UPWARD, [&] { return ud + small; });
    wide[1 * n + i] = rounded_math(FE_DOWNWARD, [&] { return ud * tenth; });
    wide[2 * n + i] = ud / vd;
  }
}

/// Value of a non-negative 8-bit float; codes past the largest finite one are not asked for.
double fp8_value(int code, int mantissa_bits, int bias) {
  const int exponent = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
  return exponent == 0
             ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
             : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

/// The nearest code, ties to the even one, saturating at the largest finite value.
int fp8_code(double v, int mantissa_bits, int bias, int largest) {
  int best = 0;
  for (int code = 1; code <= largest; ++code) {
    const double was = std::abs(fp8_value(best, mantissa_bits, bias) - std::abs(v));
    const double now = std::abs(fp8_value(code, mantissa_bits, bias) - std::abs(v));
    if (now < was || (now == was && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(v) ? 0x80 : 0);
}

void fp8_round_trip(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const double v = c.get("x", i);
    const int e4 = fp8_code(v, 3, 7, 0x7e), e5 = fp8_code(v, 2, 15, 0x7b);
    c.out<uint8_t>("e4")[i] = static_cast<uint8_t>(e4);
    c.out<uint8_t>("e5")[i] = static_cast<uint8_t>(e5);
    c.set("y", i, std::copysign(fp8_value(e4 & 0x7f, 3, 7), v));
    c.set("y", n + i, std::copysign(fp8_value(e5 & 0x7f, 2, 15), v));
  }
}

void fill_fp8(Case& c) {
  // Magnitudes from below the smallest subnormal to beyond the largest value, and exact ties.
  for (float& v : c.in<float>("x")) {
    v = static_cast<float>(
        std::ldexp(c.random().real(-1, 1), static_cast<int>(c.random().integer(-20, 18))));
    if (c.random().integer(0, 3) == 0)
      v = std::ldexp(static_cast<float>(c.random().integer(-63, 63)),
                     static_cast<int>(c.random().integer(-14, 8)));
  }
}

void half_math(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    // What the kernel rounds on the way is rounded here too.
    const double v = c.get("x", i), w = c.get("z", i);
    c.set("h", i, std::abs(v) + 0.25);
    c.set("b", i, std::abs(w) + 0.25);
    const double p = c.expected_at("h", i), q = c.expected_at("b", i);
    const double h[8] = {
        std::exp(v), std::log(p), std::sqrt(p),     1 / p,
        std::sin(v), std::cos(v), 1 / std::sqrt(p), std::max(std::floor(v), std::nearbyint(-v))};
    const double b[4] = {std::exp(w), std::log2(q), std::sqrt(q), w * std::min(w, q)};
    for (int64_t k = 0; k < 8; ++k) c.set("h", k * n + i, h[k]);
    for (int64_t k = 0; k < 4; ++k) c.set("b", k * n + i, b[k]);
  }
}

void quantise(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<float>("x");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    float top = 0;
    for (int64_t k = 0; k < cols; ++k) top = std::max(top, std::abs(x[r * cols + k]));
    const float scale = top / 127.0f, inverse = scale > 0 ? 1 / scale : 0;
    c.out<float>("scale")[r] = scale;
    for (int64_t k = 0; k < cols; ++k) {
      const float q = std::nearbyint(x[r * cols + k] * inverse);
      c.out<int8_t>("q")[r * cols + k] =
          static_cast<int8_t>(std::max(-127.0f, std::min(127.0f, q)));
    }
  }
}

void mandelbrot(Case& c) {
  const int64_t height = c.dim("H"), width = c.dim("W"), limit = c.integer_scalar("limit");
  for (int64_t i = 0; i < height * width; ++i) {
    const float cr = -2.0f + 3.0f * static_cast<float>(i % width) / static_cast<float>(width);
    const float ci = -1.0f + 2.0f * static_cast<float>(i / width) / static_cast<float>(height);
    float zr = 0, zi = 0;
    int32_t count = 0;
    for (; count < limit; ++count) {
      const float rr = zr * zr, ii = zi * zi;
      if (rr + ii > 4) break;
      zi = 2 * zr * zi + ci;
      zr = rr - ii + cr;
    }
    c.out<int32_t>("y")[i] = count;
  }
}

}  // namespace

std::vector<Entry> math_entries() {
  return {
      {.name = "libm_float",
       .settings = sweep("N", {1, 65, 2000}),
       .reference = libm_float,
       .tolerance = {1e-10, 1e-6}},
      {.name = "libm_double",
       .settings = sweep("N", {1, 33, 500}),
       .reference = libm_double,
       .tolerance = {1e-16, 1e-14}},
      {.name = "fast_math",
       .settings = sweep("N", {1, 65, 2000}),
       .reference = fast_math,
       .fill = [](Case& c) { c.fill_real("x", -3, 3); },
       .tolerance = {1e-6, 2e-6},
       .tolerances = {{"t", {1e-5, 6e-4}}}},
      {.name = "rounding_modes",
       .settings = sweep("N", {1, 33, 1000}),
       .reference = rounding_modes,
       .fill =
           [](Case& c) {
             for (float& v : c.in<float>("b")) v += v < 0 ? -0.01f : 0.01f;
           }},
      {.name = "fp8_round_trip",
       .settings = sweep("N", {1, 65, 2000}),
       .reference = fp8_round_trip,
       .fill = fill_fp8},
      {.name = "half_math",
       .settings = sweep("N", {2, 130, 2000}),
       .reference = half_math,
       .fill = [](Case& c) { c.fill_real("x", -3, 3); },
       .tolerance = {2e-3, 2e-3},
       .tolerances = {{"b", {1e-2, 1e-2}}}},
      {"int8_quantise", rows({"R", "C"}, {{1, 1}, {3, 77}, {2, 1000}}), quantise},
      {"mandelbrot", rows({"H", "W"}, {{1, 1}, {30, 41}}), mandelbrot},
  };
}

}  // namespace kw::corpus
