// Host references of integer, bit and warp-collective kernels. All exact.
#include <algorithm>
#include <bit>
#include <numeric>

#include "corpus.h"

namespace kw::corpus {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

uint32_t permuted(uint32_t u, uint32_t v, uint32_t selector) {
  const uint64_t bytes = uint64_t{v} << 32 | u;
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    const uint32_t pick = selector >> (4 * k) & 15;
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (pick & 7))) & 255;
    if (pick & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * k);
  }
  return result;
}

uint32_t reversed(uint32_t v) {
  uint32_t result = 0;
  for (int k = 0; k < 32; ++k) result |= (v >> k & 1) << (31 - k);
  return result;
}

/// Bits of `v` from `start`, `count` of them; the sign bit of a signed field fills the rest.
uint32_t extracted(uint32_t v, uint32_t start, uint32_t count, bool is_signed) {
  const uint32_t last = std::min(start + count - 1, 31u);
  const bool fill = is_signed && count > 0 && (v >> last & 1);
  uint32_t result = 0;
  for (uint32_t k = 0; k < 32; ++k) {
    const bool bit = k < count && start + k < 32 ? (v >> (start + k) & 1) : fill;
    result |= uint32_t{bit} << k;
  }
  return result;
}

uint32_t inserted(uint32_t field, uint32_t into, uint32_t start, uint32_t count) {
  for (uint32_t k = 0; k < count && start + k < 32; ++k) {
    into &= ~(1u << (start + k));
    into |= (field >> k & 1) << (start + k);
  }
  return into;
}

int32_t dot4(uint32_t u, uint32_t v, uint32_t w) {
  int32_t sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += static_cast<int8_t>(u >> (8 * k)) * static_cast<int8_t>(v >> (8 * k));
  return static_cast<int32_t>(static_cast<uint32_t>(sum) + w);
}

uint32_t high_product(uint32_t u, uint32_t v) {
  return static_cast<uint32_t>(uint64_t{u} * v >> 32);
}
uint32_t signed_high_product(uint32_t u, uint32_t v) {
  return static_cast<uint32_t>(int64_t{static_cast<int32_t>(u)} * static_cast<int32_t>(v) >> 32);
}

void bit_tricks(Case& c) {
  const int64_t n = c.dim("N");
  const auto a = c.in<uint32_t>("a"), b = c.in<uint32_t>("b");
  auto y = c.out<uint32_t>("y");
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t u = a[i], v = b[i], w = u ^ 0x5bd1e995u;
    const uint64_t both = uint64_t{v} << 32 | u;
    const uint32_t start = v & 31, count = v >> 5 & 31, right = std::min(v & 63, 32u);
    const uint32_t ffs = u ? static_cast<uint32_t>(std::countr_zero(u)) + 1 : 0;
    const uint32_t results[16] = {
        (u & v) | (~u & w),
        u ^ v ^ w,
        permuted(u, v, 0x7531),
        permuted(u, v, v & 0xffff),
        static_cast<uint32_t>(both << start >> 32),
        static_cast<uint32_t>(both >> right),
        extracted(u, start, count, false),
        extracted(u, start, count, true),
        inserted(u, w, start, count),
        static_cast<uint32_t>(std::popcount(u)) + 64 * static_cast<uint32_t>(std::countl_zero(v)) +
            4096 * ffs,
        reversed(u),
        u ? 31 - static_cast<uint32_t>(std::countl_zero(u)) : ~0u,
        (u > v ? u - v : v - u) + w,
        (u & 0xffffff) * (v & 0xffffff) + w,
        static_cast<uint32_t>(dot4(u, v, w)),
        permuted(u, v, 0x3614) + static_cast<uint32_t>(both << 11 >> 32) + high_product(u, v) +
            signed_high_product(u, v),
    };
    for (int64_t k = 0; k < 16; ++k) y[k * n + i] = results[k];
    c.out<uint64_t>("wide")[i] = uint64_t{u} * v + (uint64_t{w} << 16);
  }
}

void crc32(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<uint8_t>("x");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    uint32_t crc = ~0u;
    for (int64_t k = 0; k < cols; ++k) {
      crc ^= x[r * cols + k];
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    c.out<uint32_t>("y")[r] = ~crc;
    const double t = (crc & 255) / 256.0;
    c.set("poly", r, 1 + t * (-0.5 + t * (0.25 + t * -0.125)));
  }
}

void calls(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t i = 0; i < x.size(); ++i) {
    const int32_t v = x[i];
    int32_t a = v, b = 360360;
    while (b != 0) a = std::exchange(b, a % b);
    const int32_t h = v & 1 ? v + a : static_cast<int32_t>(static_cast<uint32_t>(v) << 3) ^ a;
    c.out<int64_t>("y")[i] = int64_t{v} * v + (v ^ 0x55) + 1000000007 * int64_t{a} + h;
    const float local[4] = {static_cast<float>(v) + 1, 1, 2, static_cast<float>(a)};
    c.out<float>("f")[i] = local[v & 3] * 0.5f;
  }
}

int32_t operated(int32_t op, int32_t u, int32_t v) {
  int32_t r = 0;
  switch (op) {
    case 0:
      return u + v;
    case 1:
      return u - v;
    case 2:
      return u * v;
    case 3:
      for (int32_t k = 0; k < (v & 15); ++k) r += u ^ k;
      return r;
    case 4:
      return v ? u / v : -1;
    case 5:
      return v ? u % v : u;
    case 6:
      return static_cast<int32_t>(static_cast<uint32_t>(u) << (v & 31));
    case 7:
      return u >> (v & 31);
    case 8:
      return std::popcount(static_cast<uint32_t>(u)) * std::popcount(static_cast<uint32_t>(v));
    case 9:
      return std::min(u, v) + std::max(u, v);
    case 10:
      return std::max(u, v);
    case 11:
      return (u & v) | (~u & (v >> 1));
    default:
      return -op;
  }
}

void stack_machine(Case& c) {
  auto y = c.out<int32_t>("y");
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = operated(c.in<int32_t>("op")[i], c.in<int32_t>("a")[i], c.in<int32_t>("b")[i]);
}

void fill_int64(Case& c) {
  for (const char* name : {"a", "b"})
    for (int64_t& v : c.in<int64_t>(name)) {
      v = static_cast<int64_t>(c.random().bits()) >> c.random().integer(1, 62);
      if (v == 0) v = 3;
    }
}

void int64_math(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const int64_t p = c.in<int64_t>("a")[i], q = c.in<int64_t>("b")[i];
    const auto pu = static_cast<uint64_t>(p), qu = static_cast<uint64_t>(q);
    const uint64_t reversed64 = uint64_t{reversed(static_cast<uint32_t>(pu))} << 32 |
                                reversed(static_cast<uint32_t>(pu >> 32));
    const int64_t y[8] = {
        static_cast<int64_t>(pu * qu),
        p / q,
        p % q,
        static_cast<int64_t>(SignedWide{p} * q >> 64),
        static_cast<int64_t>(pu << (q & 63)),
        p >> (q & 63),
        p / 1000003,
        std::min(p, q) + std::popcount(pu) - std::countl_zero(qu) + std::countr_zero(pu) + 1};
    const uint64_t u[5] = {pu / qu, pu % qu, static_cast<uint64_t>(Wide{pu} * qu >> 64), reversed64,
                           pu % 10};
    for (int64_t k = 0; k < 8; ++k) c.out<int64_t>("y")[k * n + i] = y[k];
    for (int64_t k = 0; k < 5; ++k) c.out<uint64_t>("u")[k * n + i] = u[k];
  }
}

void wide_integers(Case& c) {
  const auto read = [](std::span<uint32_t> words) {
    Wide v = 0;
    for (int k = 3; k >= 0; --k) v = v << 32 | words[k];
    return v;
  };
  for (int64_t i = 0; i < c.dim("N"); ++i) {
    const Wide a = read(c.in<uint32_t>("a").subspan(4 * i, 4));
    const Wide b = read(c.in<uint32_t>("b").subspan(4 * i, 4));
    const Wide product = Wide{static_cast<uint64_t>(a)} * static_cast<uint64_t>(b);
    for (int k = 0; k < 4; ++k) {
      c.out<uint32_t>("sum")[4 * i + k] = static_cast<uint32_t>((a + b) >> (32 * k));
      c.out<uint32_t>("difference")[4 * i + k] = static_cast<uint32_t>((a - b) >> (32 * k));
    }
    c.out<uint64_t>("product")[2 * i] = static_cast<uint64_t>(product);
    c.out<uint64_t>("product")[2 * i + 1] = static_cast<uint64_t>(product >> 64);
  }
}

void fill_carries(Case& c) {
  // Words of all ones and zero make long carries likely.
  for (const char* name : {"a", "b"})
    for (uint32_t& v : c.in<uint32_t>(name))
      if (const int64_t k = c.random().integer(0, 3); k < 2) v = k == 0 ? ~0u : 0;
}

void votes_of_warp(std::span<int32_t> x, std::span<uint32_t> y, int64_t n) {
  uint32_t all = 1, any = 0, odd = 0, sum = 0, conj = ~0u, parity = 0, low_or = 0, high_sum = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const auto u = static_cast<uint32_t>(x[lane]);
    all &= x[lane] > -50;
    any |= x[lane] == 3;
    odd |= (u & 1) << lane;
    sum += u;
    conj &= u;
    parity ^= u;
    if (lane < 16)
      low_or |= u;
    else
      high_sum += u * 3;
  }
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t same = 0, same_sign = 0;
    for (int k = 0; k < 32; ++k) {
      same |= uint32_t{(x[k] & 7) == (x[lane] & 7)} << k;
      same_sign |= uint32_t{x[k] >> 31 == x[lane] >> 31} << k;
    }
    const uint32_t results[10] = {
        all,
        any,
        odd,
        same,
        same_sign == ~0u ? ~0u + 7u : 0u,
        sum,
        static_cast<uint32_t>(*low) ^ static_cast<uint32_t>(*high),
        conj + parity,
        lane < 16 ? low_or : high_sum,
        static_cast<uint32_t>(x[(lane & ~7) | ((lane * 5 + 1) % 8)]) +
            static_cast<uint32_t>(x[lane % 16 + 3 < 16 ? lane + 3 : lane])};
    for (int64_t k = 0; k < 10; ++k) y[k * n + lane] = results[k];
  }
}

void warp_votes(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; i += 32)
    votes_of_warp(c.in<int32_t>("x").subspan(i, 32), c.out<uint32_t>("y").subspan(i), n);
}

void atomics_all(Case& c) {
  const auto x = c.in<int32_t>("x");
  const auto n = static_cast<uint32_t>(x.size());
  auto y = c.out<uint32_t>("y");
  auto wide = c.out<uint64_t>("wide");
  y[3] = y[5] = ~0u;
  wide[1] = ~uint64_t{0};
  uint32_t capped = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const auto v = static_cast<uint32_t>(x[i]);
    y[0] += v;
    y[1] -= v;
    y[2] = std::max(y[2], v);
    y[3] = std::min(y[3], v);
    y[4] |= v;
    y[5] &= v | 0xff000000u;
    y[6] ^= v;
    y[7] = y[7] >= 99 ? 0 : y[7] + 1;
    y[8] = y[8] == 0 || y[8] > 1000 ? 1000 : y[8] - 1;
    y[9] = static_cast<uint32_t>(std::max(static_cast<int32_t>(y[9]), x[i]));
    capped = std::min(capped + (v & 15), 5000u);
    wide[0] += uint64_t{v} * 65537;
    wide[1] = std::min(wide[1], uint64_t{v} << 20);
    wide[2] = std::max(wide[2], uint64_t{v} << 20);
    wide[3] ^= uint64_t{v} << (i % 32);
  }
  y[10] = capped;
  y[11] = 42;
  c.set("sums", 0, std::accumulate(x.begin(), x.end(), 0.0));
  c.set("halves", 0, n);
  c.set("halves", 1, n * 0.5);
}

uint64_t extracted64(uint64_t v, uint32_t start, uint32_t count) {
  const uint32_t last = std::min(start + count - 1, 63u);
  const bool fill = count > 0 && (v >> last & 1);
  uint64_t result = 0;
  for (uint32_t k = 0; k < 64; ++k) {
    const bool bit = k < count && start + k < 64 ? (v >> (start + k) & 1) : fill;
    result |= uint64_t{bit} << k;
  }
  return result;
}

uint64_t inserted64(uint64_t field, uint64_t into, uint32_t start, uint32_t count) {
  for (uint32_t k = 0; k < count && start + k < 64; ++k) {
    into &= ~(uint64_t{1} << (start + k));
    into |= (field >> k & 1) << (start + k);
  }
  return into;
}

/// The n-th set bit from `base` on.
uint32_t nth_set(uint32_t mask, uint32_t base, uint32_t n) {
  for (uint32_t k = base; k < 32; ++k)
    if ((mask >> k & 1) && --n == 0) return k;
  return ~0u;
}

}  // namespace

void rare_instructions(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t u = c.in<uint32_t>("a")[i], v = c.in<uint32_t>("b")[i];
    const uint64_t p = uint64_t{v} << 32 | u, q = uint64_t{u} << 32 | (v ^ 0xffffu);
    const auto su = static_cast<int32_t>(u), sv = static_cast<int32_t>(v);
    const uint64_t ones = v % 64 >= 32 ? 0xffffffffu : (uint64_t{1} << v % 64) - 1;
    const uint32_t width = std::min(v & 63, 32u);
    const uint32_t magnitude = su < 0 ? ~u : u;
    const int64_t product24 = int64_t{su << 8 >> 8} * (sv << 8 >> 8);
    const uint32_t half = (u & 1) ? 0x3232 : 0x1010;
    const uint32_t less = (u & 15) < (v & 15), nonzero = (v & 15) != 0;
    const uint32_t y[14] = {
        static_cast<uint32_t>(ones << (u & 31)),
        width == 0 ? 0
                   : static_cast<uint32_t>(static_cast<int32_t>(u << (32 - width)) >> (32 - width)),
        static_cast<uint32_t>(static_cast<int16_t>(u) * static_cast<int>(v & 255) +
                              static_cast<int16_t>(u >> 16) * static_cast<int>(v >> 8 & 255) + 7),
        nth_set(u, v & 31, 1 + (v >> 29)),
        (u & 1) == 0,
        static_cast<int32_t>(u ^ v) >= 0 ? u : v,
        su > sv ? ~0u : 0,
        static_cast<uint32_t>(product24 >> 16),
        magnitude ? static_cast<uint32_t>(std::countl_zero(magnitude)) : ~0u,
        permuted(u, v, 0x3210 + 0x1111 * (u & 3)),
        permuted(u, v, half),
        (less && nonzero ? 5u : 9u) + (!less && nonzero ? 100u : 0u),
        u << 16 | u >> 16,
        ((u >> 1) > (v >> 1) ? (u >> 1) - (v >> 1) : (v >> 1) - (u >> 1)) + u};
    const uint64_t w[5] = {
        extracted64(p, u & 63, u >> 6 & 63), inserted64(p, q, v & 63, v >> 6 & 63),
        static_cast<uint64_t>(SignedWide{static_cast<int64_t>(p)} * static_cast<int64_t>(q) >> 64),
        static_cast<uint64_t>(Wide{p} * q >> 64) + p,
        static_cast<uint64_t>(static_cast<int64_t>(p) >> std::min(u & 127, 63u))};
    for (int64_t k = 0; k < 14; ++k) c.out<uint32_t>("y")[k * n + i] = y[k];
    for (int64_t k = 0; k < 5; ++k) c.out<uint64_t>("w")[k * n + i] = w[k];
  }
}

std::vector<Entry> integer_entries() {
  return {
      {"ptx_bits", sweep("N", {1, 65, 1000}), bit_tricks},
      {"constant_table", rows({"R", "C"}, {{1, 1}, {33, 17}, {5, 100}}), crc32},
      {.name = "noinline_calls",
       .settings = sweep("N", {1, 65, 300}),
       .reference = calls,
       .fill = [](Case& c) { c.fill_integer("x", -1000, 1000); }},
      {.name = "switch_ops",
       .settings = sweep("N", {1, 97, 1000}),
       .reference = stack_machine,
       .fill = [](Case& c) { c.fill_integer("op", 0, 13); }},
      {.name = "int64_math",
       .settings = sweep("N", {1, 65, 500}),
       .reference = int64_math,
       .fill = fill_int64},
      {.name = "carry_chain",
       .settings = sweep("N", {1, 33, 300}),
       .reference = wide_integers,
       .fill = fill_carries},
      {"vote_match_redux", sweep("N", {32, 64, 320}), warp_votes},
      {.name = "atomics_all",
       .settings = sweep("N", {1, 65, 1999}),
       .reference = atomics_all,
       .fill = [](Case& c) { c.fill_integer("x", -1000, 100000); }},
  };
}

}  // namespace kw::corpus
