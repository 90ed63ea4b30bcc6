// Host references of conversions, special values, rare instructions and the corners of the
// language.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "corpus.h"

namespace kw::corpus {
namespace {

template <typename F>
auto rounded(int mode, F f) {
  std::fesetround(mode);
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

/// A whole number as type T, saturated; `nan` for NaN.
template <typename T>
T saturated(double whole, T nan) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(whole)) return nan;
  if (whole < static_cast<double>(Limits::min())) return Limits::min();
  return whole >= std::ldexp(1.0, Limits::digits) ? Limits::max() : static_cast<T>(whole);
}

double value_of(uint16_t bits, bool brain) {
  if (brain) return std::bit_cast<float>(uint32_t{bits} << 16);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Sets an element rounded toward zero or up, from the nearest value and a step where that went too
/// far.
void set_directed(Case& c, const std::string& name, int64_t i, double v, bool up) {
  c.set(name, i, v);
  uint16_t& bits = c.out<uint16_t>(name)[i];
  const double nearest = value_of(bits, name == "b");
  if (std::isnan(v) || std::isinf(v)) return;
  if (up && nearest < v) bits = static_cast<uint16_t>(nearest < 0 ? bits - 1 : bits + 1);
  if (!up && std::abs(nearest) > std::abs(v)) --bits;
}

void conversions(Case& c) {
  const int64_t n = c.dim("N");
  constexpr auto kLow32 = std::numeric_limits<int32_t>::min();
  constexpr auto kLow64 = std::numeric_limits<int64_t>::min();
  for (int64_t i = 0; i < n; ++i) {
    const float v = c.in<float>("x")[i];
    volatile double w = c.in<double>("d")[i];
    volatile int64_t q = c.in<int64_t>("k")[i];
    volatile uint32_t low = static_cast<uint32_t>(q);
    c.set("h", 0 * n + i, v);
    const double half = value_of(c.out<uint16_t>("h")[i], false);
    const int32_t whole[6] = {
        saturated<int32_t>(std::nearbyint(double{v}), 0),
        saturated<int32_t>(std::floor(double{v}), 0),
        static_cast<int32_t>(saturated<uint32_t>(std::trunc(double{v}), 0)),
        saturated<int32_t>(std::ceil(w), kLow32),
        static_cast<int8_t>(q) + static_cast<int16_t>(q >> 8) * 256 + static_cast<uint8_t>(q >> 24),
        saturated<int32_t>(std::nearbyint(half), 0)};
    const int64_t wide[4] = {
        saturated<int64_t>(std::nearbyint(double{v}), kLow64),
        saturated<int64_t>(std::trunc(w), kLow64),
        static_cast<int64_t>(saturated<uint64_t>(std::ceil(w), uint64_t{1} << 63)),
        std::bit_cast<int64_t>(+w) ^ std::bit_cast<int32_t>(v)};
    const float f[5] = {
        static_cast<float>(q), rounded(FE_UPWARD, [&] { return static_cast<float>(q); }),
        rounded(FE_TOWARDZERO, [&] { return static_cast<float>(w); }),
        rounded(FE_DOWNWARD, [&] { return static_cast<float>(low); }), static_cast<float>(w)};
    const double g[3] = {rounded(FE_DOWNWARD, [&] { return static_cast<double>(q); }),
                         static_cast<double>(static_cast<uint64_t>(q)), v};
    for (int64_t k = 0; k < 6; ++k) c.out<int32_t>("whole")[k * n + i] = whole[k];
    for (int64_t k = 0; k < 4; ++k) c.out<int64_t>("wide")[k * n + i] = wide[k];
    for (int64_t k = 0; k < 5; ++k) c.out<float>("f")[k * n + i] = f[k];
    for (int64_t k = 0; k < 3; ++k) c.out<double>("g")[k * n + i] = g[k];
    set_directed(c, "h", 1 * n + i, v, false);
    c.set("h", 2 * n + i, w);
    c.set("h", 3 * n + i, static_cast<int32_t>(q));
    c.set("b", 0 * n + i, v);
    set_directed(c, "b", 1 * n + i, v, false);
    set_directed(c, "b", 2 * n + i, v, true);
  }
}

void fill_conversions(Case& c) {
  Random& random = c.random();
  const auto any = [&random] {
    const double v = std::ldexp(random.real(-1, 1), static_cast<int>(random.integer(-20, 70)));
    const int64_t special = random.integer(0, 40);
    return special == 0 ? double{NAN} : special == 1 ? HUGE_VAL : special == 2 ? -0.5 : v;
  };
  for (float& v : c.in<float>("x")) v = static_cast<float>(any());
  for (double& v : c.in<double>("d")) v = any();
  for (int64_t& v : c.in<int64_t>("k"))
    v = static_cast<int64_t>(random.bits()) >> random.integer(0, 62);
}

/// Like fmin, with -0 below +0.
template <typename T>
T lesser(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

void edge_floats(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const float u = c.in<float>("a")[i], v = c.in<float>("b")[i];
    const double p = u, q = v;
    const float y[9] = {u + v,        u * v,           u / v,
                        lesser(u, v), -lesser(-u, -v), std::fma(u, v, -u),
                        std::sqrt(u), std::abs(u),     std::copysign(u, v)};
    const double z[4] = {p + q, p * q * 1e-280, p / q, lesser(p, q)};
    const bool test[10] = {u<v, u <= v, u == v, u != v, u >= v, u> v, std::isnan(u), std::isinf(v),
                           std::signbit(u), !(u < v)};
    for (int64_t k = 0; k < 9; ++k) c.out<float>("y")[k * n + i] = y[k];
    for (int64_t k = 0; k < 4; ++k) c.out<double>("z")[k * n + i] = z[k];
    for (int k = 0; k < 10; ++k) c.out<int32_t>("test")[i] |= test[k] << k;
  }
}

void fill_edges(Case& c) {
  const float special[] = {0.0f,   -0.0f,   1.0f,        -1.5f,   INFINITY, -INFINITY, NAN,
                           1e-45f, -1e-40f, 1.1755e-38f, 3.4e38f, -3.4e38f, 1e-30f,    3e20f};
  for (const char* name : {"a", "b"})
    for (float& v : c.in<float>(name)) v = special[c.random().integer(0, 13)];
}

void trig_large(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const double v = c.get("x", i);
    c.set("y", 0 * n + i, std::sin(v));
    c.set("y", 1 * n + i, std::cos(v));
    c.set("y", 2 * n + i, std::tan(v));
    const long double d = c.in<double>("d")[i];
    c.set("z", 0 * n + i, static_cast<double>(std::sin(d)));
    c.set("z", 1 * n + i, static_cast<double>(std::cos(d)));
  }
}

void fill_large(Case& c) {
  for (float& v : c.in<float>("x"))
    v = static_cast<float>(
        std::ldexp(c.random().real(-1, 1), static_cast<int>(c.random().integer(0, 120))));
  for (double& v : c.in<double>("d"))
    v = std::ldexp(c.random().real(-1, 1), static_cast<int>(c.random().integer(0, 200)));
}

void libm_special(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const float v = c.in<float>("x")[i], pf = std::abs(v) + 0.125f, uf = v / (1 + std::abs(v));
    const double p = pf, u = uf;
    int e;
    const double fraction = std::frexp(p, &e);
    const double y[10] = {std::tgamma(p),
                          std::lgamma(double{pf + 2.5f}),
                          ::j0(p),
                          std::hypot(p, u),
                          std::pow(10, u),
                          std::atanh(u),
                          std::asinh(p),
                          fraction + e,
                          std::ldexp(u, e + 3),
                          std::remainder(double{v}, 0.75) + std::nextafter(pf, 0.0f)};
    const double z[6] = {std::tgamma(p),
                         std::lgamma(p + 2.5),
                         std::erfc(u),
                         std::acosh(1 + p),
                         std::exp2(u) + std::log1p(p) + std::expm1(u),
                         std::hypot(p, u) + std::logb(p) + std::fmod(p, 0.3)};
    for (int64_t k = 0; k < 10; ++k) c.set("y", k * n + i, y[k]);
    for (int64_t k = 0; k < 6; ++k) c.set("z", k * n + i, z[k]);
  }
}

void areas(Case& c) {
  const auto kind = c.in<int32_t>("kind");
  const auto size = c.in<float>("size");
  for (size_t i = 0; i < kind.size(); ++i) {
    const float a = size[2 * i], b = size[2 * i + 1];
    c.out<float>("y")[i] = kind[i] == 0   ? a * b
                           : kind[i] == 1 ? a * b * 0.5f
                                          : (a * a - b * b) * 2.0f;
  }
}

void mixed_spaces(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (int32_t i = 0; i < static_cast<int32_t>(x.size()); ++i) {
    const int32_t t = i % 64, k = t / 4;
    const int32_t from[4] = {x[i], 3 * (63 - t), (k % 2 ? 9 : 7) * t, 1000 * (k % 4 + 1)};
    c.out<int32_t>("y")[i] = (from[t % 4] + 1) * (t % 3 == 0 ? 1 : 2);
  }
}

void total(Case& c) {
  for (int32_t v : c.in<int32_t>("x")) c.out<int32_t>("y")[0] += v;
}

void small_atomics(Case& c) {
  const auto x = c.in<int32_t>("x");
  int h[2] = {}, b[2] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    h[x[i] & 1] += i < 200 ? 2 : 0;
    b[x[i] & 1] += i < 100;
    ++c.out<uint16_t>("c")[x[i] & 3];
  }
  for (int k = 0; k < 2; ++k) {
    c.set("h", k, h[k]);
    c.set("b", k, b[k]);
  }
}

/// Applies `f` to the fields of two words.
template <typename T, typename F>
uint32_t packed(uint32_t u, uint32_t v, F f) {
  constexpr int kBits = 8 * sizeof(T);
  uint32_t result = 0;
  for (int k = 0; k < 32; k += kBits) {
    const auto r =
        static_cast<std::make_unsigned_t<T>>(f(static_cast<T>(u >> k), static_cast<T>(v >> k)));
    result |= uint32_t{r} << k;
  }
  return result;
}

void packed_bytes(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t u = c.in<uint32_t>("a")[i], v = c.in<uint32_t>("b")[i];
    uint32_t distance = 0;
    for (int k = 0; k < 32; k += 8)
      distance += static_cast<uint32_t>(
          std::abs(static_cast<int>(u >> k & 255) - static_cast<int>(v >> k & 255)));
    const uint32_t y[10] = {
        packed<uint8_t>(u, v, [](int a, int b) { return a + b; }),
        packed<uint16_t>(u, v, [](int a, int b) { return a - b; }),
        packed<uint8_t>(u, v, [](int a, int b) { return std::abs(a - b); }),
        packed<uint8_t>(u, v, [](int a, int b) { return std::max(a, b); }),
        packed<int16_t>(u, v, [](int a, int b) { return std::min(a, b); }),
        packed<uint8_t>(u, v, [](int a, int b) { return a > b ? 255 : 0; }),
        packed<uint8_t>(u, v, [](int a, int b) { return (a + b + 1) / 2; }),
        packed<uint8_t>(u, v, [](int a, int b) { return std::min(a + b, 255); }),
        packed<uint8_t>(u, v, [](int a, int b) { return a % 4 == b % 4; }),
        distance};
    for (int64_t k = 0; k < 10; ++k) c.out<uint32_t>("y")[k * n + i] = y[k];
  }
}

void group_ranks(Case& c) {
  const int64_t n = c.dim("N");
  const auto at = [&](int64_t i) { return i < n ? c.in<int32_t>("x")[i] : 0; };
  for (int64_t i = 0; i < n; ++i) {
    const int64_t base = i / 32 * 32;
    int32_t rank = 0, size = 0, sum = 0, scan = 0;
    for (int64_t k = base; k < base + 32; ++k) {
      if (k <= i) scan += at(k);
      if ((at(k) & 3) != (at(i) & 3)) continue;
      rank += k < i;
      ++size;
      sum += at(k);
    }
    c.out<int32_t>("rank")[i] = rank + 100 * size + 10000 * sum;
    c.out<int32_t>("scan")[i] = scan;
    c.out<int32_t>("total")[i / 64] += at(i);
  }
}

void index_volume(Case& c) {
  const int64_t depth = c.dim("D"), height = c.dim("H"), width = c.dim("W");
  const int64_t blocks = (width + 3) / 4 + (height + 1) / 2 + (depth + 2) / 3;
  for (int64_t i = 0; i < depth * height * width; ++i)
    c.out<int32_t>("y")[i] =
        static_cast<int32_t>(c.in<int16_t>("x")[i] * 1000 + i % width + 10 * (i / width % height) +
                             100 * (i / width / height) + blocks);
}

void count_kinds(Case& c) {
  for (int32_t v : c.in<int32_t>("x")) ++c.out<int32_t>("y")[v];
}

void byte_neighbours(Case& c) {
  const auto x = c.in<uint8_t>("x");
  const auto n = static_cast<int64_t>(x.size());
  const auto at = [&](int64_t i) { return i >= 0 && i < n ? int{x[i]} : 0; };
  for (int64_t i = 0; i < n; ++i) {
    c.out<uint8_t>("y")[i] = static_cast<uint8_t>((at(i - 1) + 2 * at(i) + at(i + 1) + 2) / 4);
    c.set("h", i, 2 * at(i / 33 * 33 + 32 - i % 33));
    c.out<uint8_t>("big")[i] = at(i) > 100;
  }
}

int32_t spin(int32_t v) {
  int32_t sum = 0;
  for (int32_t k = 0; k < (v & 31); ++k) sum += k * k - k;
  return sum;
}

void per_lane_functions(Case& c) {
  const auto which = c.in<int32_t>("which"), x = c.in<int32_t>("x");
  for (size_t i = 0; i < x.size(); ++i) {
    const int32_t results[4] = {x[i] * x[i], spin(x[i]), spin(x[i]) - spin(x[i] / 2), ~x[i]};
    c.out<int32_t>("y")[i] = results[which[i]];
  }
}

int64_t moves(int disks) { return disks == 0 ? 0 : 2 * moves(disks - 1) + 1; }

void recursion(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    std::vector<int32_t> row;
    for (int64_t k = 0; k < cols; ++k) row.push_back(c.in<int32_t>("x")[r * cols + k]);
    c.out<int32_t>("top")[r] = *std::max_element(row.begin(), row.end());
    c.out<int64_t>("steps")[r] = moves(static_cast<int>(r % 9));
  }
}

void doubled(Case& c) {
  const auto x = c.in<float>("x");
  for (size_t i = 0; i < x.size(); ++i) c.out<float>("y")[i] = x[i] * 2;
}

}  // namespace

std::vector<Entry> edge_entries() {
  return {
      {"generic_pointers", sweep("N", {1, 64, 200}), mixed_spaces},
      {.name = "conversions",
       .settings = sweep("N", {1, 65, 2000}),
       .reference = conversions,
       .fill = fill_conversions},
      {.name = "edge_floats",
       .settings = sweep("N", {1, 65, 1500}),
       .reference = edge_floats,
       .fill = fill_edges},
      {.name = "trig_large",
       .settings = sweep("N", {1, 33, 500}),
       .reference = trig_large,
       .fill = fill_large,
       .tolerance = {1e-14, 1e-6},
       .tolerances = {{"z", {1e-16, 1e-14}}}},
      {.name = "libm_special",
       .settings = sweep("N", {1, 33, 500}),
       .reference = libm_special,
       .tolerance = {1e-6, 3e-6},
       .tolerances = {{"z", {1e-13, 1e-13}}}},
      {.name = "virtual_shapes",
       .settings = sweep("N", {1, 65, 200}),
       .reference = areas,
       .fill = [](Case& c) { c.fill_integer("kind", 0, 2); }},
      {.name = "atomic_ref", .settings = sweep("N", {1, 65, 3000}), .reference = total},
      {"byte_neighbours", sweep("N", {1, 34, 1000}), byte_neighbours},
      {.name = "indirect_calls",
       .settings = sweep("N", {1, 65, 300}),
       .reference = per_lane_functions,
       .fill = [](Case& c) { c.fill_integer("which", 0, 3); }},
      {"recursion", rows({"R", "C"}, {{1, 1}, {40, 13}, {65, 32}}), recursion},
      {"unused_garbage", rows({"R", "C"}, {{1, 1}, {3, 37}, {2, 64}}), doubled},
      {"atomics_16bit", sweep("N", {1, 65, 1000}), small_atomics},
      {"simd_video", sweep("N", {1, 65, 1000}), packed_bytes},
      {.name = "cg_labeled", .settings = sweep("N", {1, 64, 1000}), .reference = group_ranks},
      {"ptx_rare", sweep("N", {1, 65, 1000}), rare_instructions},
      {"grid3d", rows({"D", "H", "W"}, {{1, 1, 1}, {7, 5, 9}, {3, 2, 4}}), index_volume},
      {.name = "warp_aggregate",
       .settings = rows({"N", "K"}, {{1, 1}, {97, 5}, {1000, 32}}),
       .reference = count_kinds,
       .fill = [](Case& c) { c.fill_integer("x", 0, c.dim("K") - 1); }},
  };
}

}  // namespace kw::corpus
