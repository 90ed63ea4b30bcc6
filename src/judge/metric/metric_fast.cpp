// Every sum has eight interleaved parts, so that the compiler can use vectors without changing the
// order of a sum.
#include "metric/metric_fast.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw::metric::KW_SIMD_LEVEL {

namespace {

constexpr size_t kParts = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kExponent = 0x7ff0000000000000;

double power_of(double value) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & kExponent);
}

/// Rounds to a format of `kBits` significant bits by adding and subtracting a number with that
/// step.
template <int kBits, int kLeastExponent>
double round_to(double value, double largest) {
  const double least = std::bit_cast<double>(static_cast<uint64_t>(1023 + kLeastExponent) << 52);
  const double power = power_of(value);
  const double step = (power > least ? power : least) * (2.0 / (1ull << kBits));
  const double coarse = 0x1.8p52 * step;
  const double rounded = (value + coarse) - coarse;
  return rounded > largest ? kInfinity : rounded < -largest ? -kInfinity : rounded;
}

struct Single {
  using Stored = float;
  static double load(float bits) { return bits; }
  static double round(double value) { return static_cast<float>(value); }
};
struct Half {
  using Stored = uint16_t;
  static double load(uint16_t bits) {
    const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
    const uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | sign);
  }
  static double round(double value) { return round_to<11, -14>(value, 65504); }
};
struct Bf16 {
  using Stored = uint16_t;
  static double load(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  static double round(double value) { return round_to<8, -126>(value, 0x1.fep127); }
};

struct Parts {
  double squares[kParts] = {}, abs[kParts] = {}, rel[kParts] = {}, ulps[kParts] = {};
  double z[kParts] = {}, telling[kParts] = {}, rare[kParts] = {};
};

template <class Format, bool kHasA, bool kHasH>
void add_eight(const FastChunk& c, const typename Format::Stored* got, size_t at, Parts& parts,
               double* zs) {
  for (size_t j = 0; j < kParts; ++j) {
    const size_t i = at + j;
    const double value = Format::load(got[i]);
    const double want = c.want[i];
    const double size = std::fabs(want);
    double bound = 0;
    if (kHasA) bound = c.path_factor * static_cast<double>(c.a[i]);
    if (kHasH) bound += static_cast<double>(c.h[i]);
    bound = bound + c.unit * size + c.step;
    const double distance = std::fabs(value - want);
    const bool differs = value != Format::round(want);
    const double off = differs ? distance : 0;
    const double z = off / bound;
    const double relative = off / size;
    const double coarse = 2 * c.format_unit * power_of(want);
    const double ulps = off / (coarse > c.subnormal ? coarse : c.subnormal);
    // A NaN on either side makes the comparison false, so it counts as rare.
    parts.rare[j] += off <= bound && bound < kInfinity ? 0 : 1;
    parts.telling[j] += size > bound ? 1 : 0;
    parts.squares[j] += z * z;
    parts.abs[j] = off > parts.abs[j] ? off : parts.abs[j];
    const double known = size >= c.smallest_normal && relative < kInfinity ? relative : 0;
    parts.rel[j] = known > parts.rel[j] ? known : parts.rel[j];
    parts.ulps[j] = ulps > parts.ulps[j] ? ulps : parts.ulps[j];
    parts.z[j] = z > parts.z[j] ? z : parts.z[j];
    zs[i] = z;
  }
}

double total(const double (&part)[kParts]) {
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

double largest(const double (&part)[kParts]) {
  double most = part[0];
  for (double each : part) most = each > most ? each : most;
  return most;
}

template <class Format, bool kHasA, bool kHasH>
bool judge_as(const FastChunk& c, FastSums* sums) {
  double zs[kFastChunk];
  Parts parts;
  const auto* got = reinterpret_cast<const typename Format::Stored*>(c.got);
  for (size_t at = 0; at < c.count; at += kParts)
    add_eight<Format, kHasA, kHasH>(c, got, at, parts, zs);
  if (total(parts.rare) != 0) return false;
  sums->sum_squares = total(parts.squares);
  sums->max_abs = largest(parts.abs);
  sums->max_rel = largest(parts.rel);
  sums->max_ulps = largest(parts.ulps);
  sums->max_z = largest(parts.z);
  sums->telling = static_cast<int64_t>(total(parts.telling));
  sums->worst = 0;
  while (zs[sums->worst] != sums->max_z) ++sums->worst;
  return true;
}

template <class Format>
bool judge_format(const FastChunk& c, FastSums* sums) {
  if (c.a == nullptr)
    return c.h == nullptr ? judge_as<Format, false, false>(c, sums)
                          : judge_as<Format, false, true>(c, sums);
  return c.h == nullptr ? judge_as<Format, true, false>(c, sums)
                        : judge_as<Format, true, true>(c, sums);
}

}  // namespace

bool judge_chunk(const FastChunk& chunk, FastSums* sums) {
  if (chunk.count == 0 || chunk.count % kParts != 0 || chunk.count > kFastChunk) return false;
  switch (chunk.dtype) {
    case tensor::DType::Fp32:
      return judge_format<Single>(chunk, sums);
    case tensor::DType::Fp16:
      return judge_format<Half>(chunk, sums);
    case tensor::DType::Bf16:
      return judge_format<Bf16>(chunk, sums);
    default:
      return false;
  }
}

}  // namespace kw::metric::KW_SIMD_LEVEL
