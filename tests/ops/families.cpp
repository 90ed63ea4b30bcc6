#include "families.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/text.h"
#include "tensor/convert.h"

namespace kw::ops {
namespace {

using tensor::DType;

uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

int64_t bell(uint64_t h) {
  return static_cast<int64_t>((h & 0xFFFF) + (h >> 16 & 0xFFFF) + (h >> 32 & 0xFFFF) + (h >> 48)) -
         131070;
}

// What a draw must lose to be exact, and the ends of the format.
struct Format {
  int bell_loss = 0, even_loss = 0, tiny = 0;
  double largest = 0, lowest_normal = 0;
};

Format format_of(DType type) {
  switch (type) {
    case DType::Fp16:
      return {8, 14, -24, 65504.0, 0x1p-14};
    case DType::Bf16:
      return {10, 17, -133, 0x1.FEp127, 0x1p-126};
    case DType::Fp64:
      return {0, 0, -1074, std::numeric_limits<double>::max(), 0x1p-1022};
    default:
      return {0, 0, -149, 0x1.FFFFFEp127, 0x1p-126};
  }
}

double scaled(int64_t value, int exponent) {
  return std::ldexp(static_cast<double>(value), exponent);
}

int64_t trimmed(int64_t value, int bits) { return value < 0 ? -((-value) >> bits) : value >> bits; }

double offset_value(DType type, uint64_t h) {
  if (type == DType::Fp16) return 1024 + scaled(trimmed(bell(h), 10), 0);
  if (type == DType::Bf16) return 128 + scaled(trimmed(bell(h), 13), 0);
  return 4096 + scaled(bell(h), -11);
}

std::optional<double> float_value(const std::string& family, DType type, uint64_t h, int64_t i) {
  const Format f = format_of(type);
  const int64_t b = trimmed(bell(h), f.bell_loss);
  const auto u = static_cast<int64_t>((h >> 40) >> f.even_loss);
  const int unit = f.bell_loss - 15;
  if (family == "normal") return scaled(b, unit);
  if (family == "positive") return scaled((std::abs(bell(h)) + 2048) >> f.bell_loss, unit);
  if (family == "unit") return scaled(u - (int64_t{1} << (23 - f.even_loss)), f.even_loss - 23);
  if (family == "prob") return scaled(2 * (u >> 1) + 1, f.even_loss - 24);
  if (family == "heavy") return scaled(b, unit + static_cast<int>(mix(h) % 17) - 8);
  if (family == "big") return scaled(b, unit + (type == DType::Fp16 ? 10 : 60));
  if (family == "denormal") {
    const int loss = type == DType::Bf16 ? 11 : f.bell_loss;
    return scaled(trimmed(bell(h), loss), f.tiny);
  }
  if (family == "offset") return offset_value(type, h);
  if (family == "zeros") return i % 2 ? -0.0 : 0.0;
  if (family == "equal") return 0.75;
  if (family == "ties") return static_cast<double>(h % 4) - 1;
  if (family == "whole") return static_cast<double>(h % 19) - 9;
  if (family == "halves") return (static_cast<double>(h % 37) - 18) / 4;
  return std::nullopt;
}

std::vector<double> float_edges(DType type, bool special) {
  const Format f = format_of(type);
  const double tiny = std::ldexp(1, f.tiny);
  std::vector<double> edges = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               0.5,
                               -0.5,
                               1.5,
                               -1.5,
                               2.5,
                               -2.5,
                               3.0,
                               -3.0,
                               6.0,
                               -6.0,
                               20.0,
                               -20.0,
                               0.25,
                               -0.25,
                               88.0,
                               -88.0,
                               100.0,
                               -100.0,
                               f.largest,
                               -f.largest,
                               f.lowest_normal,
                               -f.lowest_normal,
                               tiny,
                               -tiny};
  if (special) edges.insert(edges.end(), {INFINITY, -INFINITY, std::nan("")});
  return edges;
}

std::vector<int64_t> int_edges(DType type) {
  if (type == DType::Bool) return {0, 1};
  const int bits = 8 * tensor::dtype_size(type);
  const bool is_signed = tensor::is_signed_int(type);
  const int64_t low = is_signed ? -1 - static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : 0;
  const int64_t top = is_signed ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : 255;
  std::vector<int64_t> edges = {0, 1, 2, 3, 7, 8, 100, top};
  if (is_signed) edges.insert(edges.end(), {-1, -2, -3, -7, -8, -100, low});
  return edges;
}

std::vector<int64_t> permutation(int64_t n, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) {
    const uint64_t j = mix(seed + static_cast<uint64_t>(i)) % static_cast<uint64_t>(i + 1);
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
  return order;
}

struct Range {
  int64_t low = 0, high = 0;
};

Result<Range> range_of(const std::string& family, DType type) {
  if (family.starts_with("range(") && family.ends_with(")")) {
    const std::vector<std::string> ends = split(family.substr(6, family.size() - 7), ',');
    if (ends.size() == 2 && parse_int(ends[0]) && parse_int(ends[1])) {
      return Range{*parse_int(ends[0]), *parse_int(ends[1])};
    }
  }
  if (family == "ties") return Range{0, 2};
  if (family == "normal" || family == "whole" || family == "halves" || family == "unit") {
    return tensor::is_signed_int(type) ? Range{-9, 9} : Range{0, 9};
  }
  return input_error(fmt::format("no family '{}' for {}", family, tensor::dtype_name(type)));
}

void put(tensor::HostTensor& tensor, int64_t i, double value) {
  tensor::store_floats(tensor, i, std::span(&value, 1));
}

Status fill_listed(tensor::HostTensor& tensor, const std::string& family, int64_t count) {
  const std::vector<std::string> listed = split(family.substr(1, family.size() - 2), ',');
  const bool is_float = tensor::is_float(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    const std::string& text = listed[static_cast<size_t>(i) % listed.size()];
    if (is_float)
      put(tensor, i, std::strtod(text.c_str(), nullptr));
    else
      tensor::store_int(tensor, i, std::strtoll(text.c_str(), nullptr, 10));
  }
  return Done{};
}

void fill_edges(tensor::HostTensor& tensor, const std::string& family, int64_t count) {
  const bool is_float = tensor::is_float(tensor.dtype);
  const std::vector<double> floats =
      is_float ? float_edges(tensor.dtype, family != "edge") : std::vector<double>{};
  const std::vector<int64_t> ints = is_float ? std::vector<int64_t>{} : int_edges(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(family == "special2" ? i * 7 / 3 : i);
    if (is_float)
      put(tensor, i, floats[at % floats.size()]);
    else
      tensor::store_int(tensor, i, ints[at % ints.size()]);
  }
}

void fill_order(tensor::HostTensor& tensor, bool distinct, int64_t count, uint64_t seed) {
  const std::vector<int64_t> order = permutation(count, seed);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t v = order[static_cast<size_t>(i)];
    if (tensor::is_float(tensor.dtype))
      put(tensor, i, static_cast<double>(v - count / 2) / 8);
    else if (distinct && tensor::is_signed_int(tensor.dtype))
      tensor::store_int(tensor, i, v - count / 2);
    else
      tensor::store_int(tensor, i, v);
  }
}

Status fill_drawn(tensor::HostTensor& tensor, const std::string& family, int64_t count,
                  uint64_t seed) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t h = mix(seed + static_cast<uint64_t>(i));
    if (tensor::is_float(tensor.dtype)) {
      const auto value = float_value(family, tensor.dtype, h, i);
      if (!value) return input_error(fmt::format("no family '{}' for floats", family));
      put(tensor, i, *value);
    } else if (tensor.dtype == DType::Bool) {
      tensor::store_int(tensor, i, static_cast<int64_t>(h >> 11 & 1));
    } else {
      const Range range = KW_TRY(range_of(family, tensor.dtype));
      const auto width = static_cast<uint64_t>(range.high - range.low + 1);
      tensor::store_int(tensor, i, range.low + static_cast<int64_t>(h % width));
    }
  }
  return Done{};
}

}  // namespace

uint64_t seed_of(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

Status fill(tensor::HostTensor& tensor, const std::string& family, uint64_t seed) {
  const int64_t count = KW_TRY(tensor::element_count(tensor.shape));
  if (family.starts_with("{")) return fill_listed(tensor, family, count);
  if (family == "edge" || family == "special" || family == "special2") {
    fill_edges(tensor, family, count);
    return Done{};
  }
  if (family == "distinct" || family == "permutation") {
    fill_order(tensor, family == "distinct", count, seed);
    return Done{};
  }
  return fill_drawn(tensor, family, count, seed);
}

}  // namespace kw::ops
