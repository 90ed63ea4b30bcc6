// A verdict must be reproducible on every host, so inputs must have the same bytes everywhere. Each
// element is a pure function of (seed, index), from a counter-based generator. So the order does
// not matter, and threads can share the work. Only integer operations and + - * / sqrt are used,
// because IEEE 754 defines them bit for bit. log and cos of libm differ between hosts, so the usual
// methods for normal values are not possible. The bell curve comes from a popcount: 64 fair coins
// give a binomial with deviation 4. A triangular value added to it makes the density continuous.
// The cost: the curve is only nearly normal, and it ends just past 8 deviations.
#include "tensor/inputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "os/parallel.h"
#include "tensor/convert.h"

namespace kw::tensor {

namespace {

constexpr std::array<const char*, 12> kFamilyNames = {"normal", "uniform",  "heavy", "spikes",
                                                      "offset", "denormal", "equal", "sorted",
                                                      "zeros",  "special",  "ones",  "iota"};

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615d5;
  x ^= x >> 29;
  x *= 0xc4ceb9fe1a85ec53;
  x ^= x >> 32;
  return x;
}

// Two independent draws per element and seed.
struct Draw {
  uint64_t a, b;
};

Draw draw(uint64_t key, uint64_t index) {
  const uint64_t a = mix(key + (2 * index + 1) * 0x9e3779b97f4a7c15);
  return {a, mix(a ^ key ^ 0xd1b54a32d192ed03)};
}

double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }  // [0, 1)

double bell(const Draw& d) {
  constexpr double kDeviation = 4.0207793606049394;  // of the sum below: sqrt(16 + 1/6)
  const double smear = static_cast<double>(d.b & 0xffffffff) * 0x1p-32 +
                       static_cast<double>(d.b >> 32) * 0x1p-32 - 1;
  return (std::popcount(d.a) - 32 + smear) / kDeviation;
}

// The values that count as large, tiny and exact integer in each float format.
struct FloatTraits {
  DType type;
  double max, min_normal, offset_mean, spike;
  int64_t exact_integers;
};
constexpr FloatTraits kFloatTraits[] = {
    {DType::Fp64, 0x1.fffffffffffffp1023, 0x1p-1022, 1e6, 1000, int64_t{1} << 53},
    {DType::Fp32, 0x1.fffffep127, 0x1p-126, 1000, 1000, int64_t{1} << 24},
    {DType::Fp16, 65504, 0x1p-14, 100, 1000, 2048},
    {DType::Bf16, 0x1.fep127, 0x1p-126, 32, 1000, 256},
    {DType::Fp8e4m3, 448, 0x1p-6, 16, 100, 16},
    {DType::Fp8e5m2, 57344, 0x1p-14, 8, 1000, 8},
    {DType::Fp4e2m1x2, 6, 1, 4, 6, 4},
    {DType::E8m0, 0x1p127, 0x1p-127, 1024, 1024, 1},
};

const FloatTraits& traits_of(DType type) {
  return *std::ranges::find_if(kFloatTraits, [&](const FloatTraits& t) { return t.type == type; });
}

double special_value(const Draw& d, const FloatTraits& traits) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (d.b % 64) {
    case 0:
      return infinity;
    case 1:
      return -infinity;
    case 2:
      return std::numeric_limits<double>::quiet_NaN();
    case 3:
      return traits.max;
    case 4:
      return -traits.max;
    case 5:
      return traits.min_normal / 2;
    case 6:
      return -0.0;
    default:
      return bell(d);
  }
}

double float_value(Family family, const Draw& d, const FloatTraits& traits, uint64_t key,
                   int64_t index, int64_t count) {
  switch (family) {
    case Family::Normal:
      return bell(d);
    case Family::Uniform:
      return 2 * unit(d.a) - 1;
    case Family::Heavy:
      return bell(d) / std::sqrt(unit(mix(d.b)) + 0x1p-20);
    case Family::Spikes:
      return d.b % 256 == 0 ? bell(d) * traits.spike : bell(d);
    case Family::Offset:
      return traits.offset_mean + bell(d);
    case Family::Denormal:
      return (1.5 * unit(d.a) - 0.75) * traits.min_normal;  // never rounds up to a normal
    case Family::Equal:
      return 0.5 + static_cast<double>(mix(key) % 12) * 0.125;
    case Family::Sorted:
      return count < 2 ? 0 : -4 + 8 * (static_cast<double>(index) / static_cast<double>(count - 1));
    case Family::Zeros:
      return (d.a & 1) != 0 ? -0.0 : 0.0;
    case Family::Special:
      return special_value(d, traits);
    case Family::Ones:
      return 1;
    case Family::Iota:
      return static_cast<double>(index % traits.exact_integers);
  }
  return 0;
}

// e8m0 holds only powers of two, so a family shapes the exponent.
uint8_t scale_value(Family family, const Draw& d, int64_t index, int64_t count) {
  switch (family) {
    case Family::Ones:
    case Family::Zeros:
    case Family::Equal:
      return 127;
    case Family::Denormal:
      return static_cast<uint8_t>(d.a % 8);
    case Family::Special:
      return d.b % 64 == 0 ? 255 : static_cast<uint8_t>(d.a % 255);
    case Family::Sorted:
      return static_cast<uint8_t>(count < 2 ? 127 : 120 + 15 * index / count);
    case Family::Iota:
      return static_cast<uint8_t>(index % 255);
    case Family::Heavy:
    case Family::Spikes:
      return static_cast<uint8_t>(d.b % 256 == 0 ? 140 : 123 + d.a % 9);
    default:
      return static_cast<uint8_t>(123 + d.a % 9);
  }
}

struct IntLimits {
  int64_t low, high;  // of the type, within int64
};

IntLimits limits_of(DType type) {
  const int bits = dtype_size(type) * 8;
  if (type == DType::Bool) return {0, 1};
  if (is_unsigned_int(type)) return {0, bits == 64 ? INT64_MAX : (int64_t{1} << bits) - 1};
  return {bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1)),
          bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1};
}

int64_t in_range(uint64_t bits, const IntLimits& r) {
  const uint64_t width = static_cast<uint64_t>(r.high) - static_cast<uint64_t>(r.low) + 1;
  const uint64_t offset = width == 0 ? bits : bits % width;
  return static_cast<int64_t>(static_cast<uint64_t>(r.low) + offset);
}

int64_t int_value(Family family, const Draw& d, const IntLimits& r, const IntLimits& type,
                  uint64_t key, int64_t index, int64_t count) {
  const double width = static_cast<double>(r.high) - static_cast<double>(r.low);
  const auto clip = [&](double v) {
    if (!(v > static_cast<double>(r.low))) return r.low;
    return v >= static_cast<double>(r.high) ? r.high : static_cast<int64_t>(v);
  };
  const double middle = static_cast<double>(r.low) + width / 2;
  switch (family) {
    case Family::Normal:
      return clip(std::floor(middle + bell(d) * width / 8 + 0.5));
    case Family::Heavy:
      return clip(std::floor(middle + bell(d) / std::sqrt(unit(d.b) + 0x1p-20) * width / 64 + 0.5));
    case Family::Spikes:
      return d.b % 256 == 0 ? r.high : clip(std::floor(middle + bell(d) * width / 64 + 0.5));
    case Family::Offset:
      return clip(std::floor(static_cast<double>(r.high) - (bell(d) + 4) * width / 64));
    case Family::Equal:
      return in_range(mix(key), r);
    case Family::Sorted:
      return clip(static_cast<double>(r.low) +
                  width * (static_cast<double>(index) / static_cast<double>(count)));
    case Family::Zeros:
      return std::clamp<int64_t>(0, r.low, r.high);
    case Family::Ones:
      return std::clamp<int64_t>(1, r.low, r.high);
    case Family::Special:
      return d.b % 32 == 0 ? type.low : (d.b % 32 == 1 ? type.high : in_range(d.a, r));
    case Family::Iota:
      return in_range(static_cast<uint64_t>(index),
                      {std::max<int64_t>(r.low, 0), std::max<int64_t>(r.high, 0)});
    default:
      return in_range(d.a, r);
  }
}

// Elements do not depend on each other, so several threads give the same bytes as one.
void in_parts(int64_t count, const std::function<void(int64_t, int64_t)>& fill) {
  constexpr int64_t kWorthAThread = 1 << 20;
  const int64_t cores = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  const int64_t parts = std::clamp<int64_t>(count / kWorthAThread, 1, std::min<int64_t>(cores, 16));
  const int64_t size =
      (count / parts + 1) / 2 * 2;  // even, because two fp4e2m1x2 values share a byte
  os::parallel_for(static_cast<int>(parts), parts, [&](int, int64_t part) {
    fill(part * size, part + 1 == parts ? count : (part + 1) * size);
  });
}

void fill_ints(HostTensor& tensor, Family family, uint64_t key, const IntLimits& range,
               int64_t count) {
  const IntLimits type = limits_of(tensor.dtype);
  in_parts(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Draw d = draw(key, static_cast<uint64_t>(i));
      store_int(tensor, i, int_value(family, d, range, type, key, i, count));
    }
  });
}

void fill_floats(HostTensor& tensor, Family family, uint64_t key, int64_t count) {
  const FloatTraits& traits = traits_of(tensor.dtype);
  const int64_t values = tensor.dtype == DType::Fp4e2m1x2 ? count * 2 : count;
  in_parts(values, [&](int64_t begin, int64_t end) {
    constexpr int64_t kChunk = 1024;
    std::array<double, kChunk> chunk;
    for (int64_t start = begin; start < end; start += kChunk) {
      const int64_t n = std::min(kChunk, end - start);
      for (int64_t i = 0; i < n; ++i) {
        const Draw d = draw(key, static_cast<uint64_t>(start + i));
        chunk[static_cast<size_t>(i)] = float_value(family, d, traits, key, start + i, values);
      }
      store_floats(tensor, start, {chunk.data(), static_cast<size_t>(n)});
    }
  });
}

}  // namespace

const char* family_name(Family family) { return kFamilyNames[static_cast<size_t>(family)]; }

std::optional<Family> family_from_name(std::string_view name) {
  for (size_t i = 0; i < kFamilyNames.size(); ++i) {
    if (name == kFamilyNames[i]) return static_cast<Family>(i);
  }
  return std::nullopt;
}

std::vector<std::string> family_names() { return {kFamilyNames.begin(), kFamilyNames.end()}; }

IntegerRange integer_limits(DType dtype) {
  const IntLimits limits = limits_of(dtype);
  return {limits.low, limits.high};
}

Result<HostTensor> make_input(DType dtype, const std::vector<int64_t>& shape, Family family,
                              uint64_t seed, std::optional<IntegerRange> range) {
  HostTensor tensor = KW_TRY(make_tensor(dtype, shape));
  const auto count = static_cast<int64_t>(tensor.data.size()) / dtype_size(dtype);
  const uint64_t key = mix(seed + 0x2545f4914f6cdd1d) ^ mix(static_cast<uint64_t>(family) + 1);
  if (dtype == DType::E8m0) {
    for (int64_t i = 0; i < count; ++i) {
      const Draw d = draw(key, static_cast<uint64_t>(i));
      tensor.data[static_cast<size_t>(i)] =
          static_cast<std::byte>(scale_value(family, d, i, count));
    }
  } else if (is_float(dtype)) {
    fill_floats(tensor, family, key, count);
  } else {
    const IntLimits type = limits_of(dtype);
    IntLimits r = is_signed_int(dtype) ? IntLimits{-100, 100} : IntLimits{0, 200};
    if (range) r = {range->low, range->high};
    if (r.low > r.high || r.low > type.high || r.high < type.low)
      return input_error("no {} lies between {} and {}", dtype_name(dtype), r.low, r.high);
    r = {std::clamp(r.low, type.low, type.high), std::clamp(r.high, type.low, type.high)};
    fill_ints(tensor, family, key, r, count);
  }
  return tensor;
}

}  // namespace kw::tensor
