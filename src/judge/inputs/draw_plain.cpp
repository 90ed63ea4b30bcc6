// The problem: one list of families serves floats, integers and bools, and some have no meaning for
// a type. Floats follow tensor::Family, with an offset and a spike that suit each format. Integers
// stay within the task's range; a family without a meaning for them gives uniform values. Bools are
// rare, common or alike. The alternative, lists of families per type, would multiply the cells of
// tasks with mixed inputs. The cost: some cells of integer inputs repeat uniform values.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inputs/draw.h"
#include "inputs/families.h"
#include "os/parallel.h"
#include "tensor/convert.h"

namespace kw::inputs {

namespace {

using tensor::DType;
using tensor::Family;
using tensor::HostTensor;

constexpr int64_t kDrawChunk = 8192, kDrawChunksPerThread = 32;
constexpr uint64_t kRare = 256;  // one of this many elements
constexpr int64_t kLeastRow = 16;

// Offset: a large mean with a small deviation. The ratio is at least 2000 if the format allows;
// otherwise neighbouring values must remain distinct.
struct Offset {
  DType type;
  double mean, deviation;
};
constexpr Offset kOffsets[] = {
    {DType::Fp64, 1e6, 1},
    {DType::Fp32, 4096, 1},
    {DType::Fp16, 1024, 0.5},
    {DType::Bf16, 256, 0.4},
};

// Fits the format and is much larger than ordinary values. For formats with at least eight exponent
// bits, every second draw exceeds the range of fp16.
double spike_size(DType type, bool wide) {
  if (type == DType::Fp8e4m3) return 256;
  if (type == DType::Fp4e2m1x2) return 6;
  const bool reaches = type == DType::Fp32 || type == DType::Bf16 || type == DType::Fp64;
  return wide && reaches ? 131072 : 1024;
}

// For integers without limits: beyond the next narrower type, but not at the ends of the range.
int64_t large_integer(DType type) {
  const int bits = tensor::dtype_size(type) * 8;
  if (bits == 8) return tensor::is_unsigned_int(type) ? 255 : 127;
  return int64_t{1} << (bits == 64 ? 40 : bits - 2);
}

// Changes one element at a position derived from the seed.
void plant(HostTensor* tensor, uint64_t seed) {
  const int64_t count = tensor::value_count(*tensor);
  if (count == 0) return;
  const auto at = static_cast<int64_t>(seed % static_cast<uint64_t>(count));
  const double size = spike_size(tensor->dtype, (seed >> 41) % 2 == 0);
  const double value = size * ((seed >> 40) % 2 == 0 ? 1 : -1);
  tensor::store_floats(*tensor, at, std::span(&value, 1));
}

void permute_rows(HostTensor* tensor, uint64_t seed) {
  const int64_t extent = tensor->shape.empty() ? 1 : tensor->shape.back();
  const int64_t count = tensor::value_count(*tensor);
  std::vector<int64_t> order(static_cast<size_t>(extent));
  for (int64_t row = 0; extent > 0 && row < count / extent; ++row) {
    std::iota(order.begin(), order.end(), int64_t{0});
    for (size_t i = order.size(); i > 1; --i) {
      seed = derive_seed(seed, i);
      std::swap(order[i - 1], order[seed % i]);
    }
    for (int64_t i = 0; i < extent; ++i)
      tensor::store_int(*tensor, row * extent + i, order[static_cast<size_t>(i)]);
  }
}

// About one element per row is set (or not set), the difficult case for any() and all().
void scatter_bools(HostTensor* tensor, bool rare, uint64_t seed) {
  const int64_t row = tensor->shape.empty() ? 1 : tensor->shape.back();
  const auto one_of = static_cast<uint64_t>(std::max(row, kLeastRow));
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t draw) {
    tensor::store_int(*tensor, at, (draw % one_of == 0) == rare ? 1 : 0);
  });
}

// A few large values, so that arithmetic in a narrower type gives wrong results.
void scatter_large(HostTensor* tensor, uint64_t seed) {
  const int64_t large = large_integer(tensor->dtype);
  const bool signs = !tensor::is_unsigned_int(tensor->dtype);
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t draw) {
    if (draw % kRare != 0) return;
    const auto less = static_cast<int64_t>((draw >> 20) % 64);
    tensor::store_int(*tensor, at, signs && (draw >> 40) % 2 == 0 ? less - large : large - less);
  });
}

Result<HostTensor> draw_bool(const std::vector<int64_t>& shape, const std::string& family,
                             uint64_t seed) {
  const bool alike = family == "zeros" || family == "equal";
  HostTensor tensor = KW_TRY(tensor::make_input(
      DType::Bool, shape, alike ? *tensor::family_from_name(family) : Family::Uniform, seed));
  if (family == "spikes" || family == "heavy") scatter_bools(&tensor, family == "spikes", seed);
  return tensor;
}

Result<HostTensor> draw_float(const TensorDraw& draw) {
  const task::TensorSpec& spec = draw.spec;
  const std::string& family = draw.family;
  const uint64_t seed = draw.seed;
  const auto base =
      family == "probe" || family == "offset" ? Family::Normal : *tensor::family_from_name(family);
  const auto row = std::ranges::find(kOffsets, spec.dtype, &Offset::type);
  const bool own_offset = family == "offset" && row != std::end(kOffsets);
  HostTensor tensor = KW_TRY(tensor::make_input(
      spec.dtype, draw.shape, family == "offset" && !own_offset ? Family::Offset : base, seed));
  if (own_offset) {
    const double sign = seed % 2 == 0 ? 1 : -1;
    transform(&tensor, [&](double v) { return sign * row->mean + row->deviation * v; });
  }
  if (family == "probe" || family == "spikes") plant(&tensor, derive_seed(seed, 7));
  return tensor;
}

Result<HostTensor> draw_integer(const TensorDraw& draw) {
  const task::TensorSpec& spec = draw.spec;
  const std::string& family = draw.family;
  const uint64_t seed = draw.seed;
  if (spec.legal.permutation) {
    HostTensor tensor = KW_TRY(tensor::make_tensor(spec.dtype, draw.shape));
    permute_rows(&tensor, seed);
    return tensor;
  }
  if (spec.dtype == DType::Bool) return draw_bool(draw.shape, family, seed);
  // These families have no meaning for integers, or ("special": the type's extremes) may be
  // illegal. Uniform values are drawn instead.
  const bool plain = family == "probe" || family == "special" || family == "offset" ||
                     family == "denormal" || family == "normal";
  const Family base = plain ? Family::Uniform : *tensor::family_from_name(family);
  const tensor::IntegerRange range = KW_TRY(integer_range(spec, draw.cell.dims));
  HostTensor tensor = KW_TRY(tensor::make_input(spec.dtype, draw.shape, base, seed, range));
  if (is_free_integer(spec) && family == "spikes") scatter_large(&tensor, derive_seed(seed, 11));
  return tensor;
}

}  // namespace

TensorDraw TensorDraw::with(const std::string& other, uint64_t other_seed) const {
  TensorDraw draw = *this;
  draw.family = other;
  draw.seed = other_seed;
  return draw;
}

void transform(HostTensor* tensor, const std::function<double(double)>& change) {
  const int64_t count = tensor::value_count(*tensor);
  const int64_t chunks = (count + kDrawChunk - 1) / kDrawChunk;
  const int pieces = os::thread_count(chunks, kDrawChunksPerThread, 0);
  os::in_pieces(chunks, pieces, [&](int, int64_t begin, int64_t end) {
    std::vector<double> values(kDrawChunk);
    for (int64_t at = begin * kDrawChunk; at < std::min(count, end * kDrawChunk);
         at += kDrawChunk) {
      const std::span<double> part(values.data(),
                                   static_cast<size_t>(std::min(kDrawChunk, count - at)));
      tensor::load_values(*tensor, at, part);
      for (double& value : part) value = change(value);
      tensor::store_floats(*tensor, at, part);
    }
  });
}

void for_each_draw(const HostTensor& tensor, uint64_t seed,
                   const std::function<void(int64_t at, uint64_t draw)>& visit) {
  const int64_t count = tensor::value_count(tensor);
  const int64_t chunks = (count + kDrawChunk - 1) / kDrawChunk;
  os::in_pieces(chunks, os::thread_count(chunks, kDrawChunksPerThread, 0),
                [&](int, int64_t begin, int64_t end) {
                  for (int64_t at = begin * kDrawChunk; at < std::min(count, end * kDrawChunk);
                       ++at)
                    visit(at, derive_seed(seed, static_cast<uint64_t>(at)));
                });
}

void put(HostTensor* tensor, int64_t at, double value) {
  tensor::store_floats(*tensor, at, std::span(&value, 1));
}

int64_t row_length(const HostTensor& tensor) {
  return tensor.shape.empty() ? 1 : std::max<int64_t>(tensor.shape.back(), 1);
}

bool is_free_integer(const task::TensorSpec& spec) {
  const task::Legal& legal = spec.legal;
  const bool integer = tensor::is_signed_int(spec.dtype) || tensor::is_unsigned_int(spec.dtype);
  return integer && !legal.permutation && !legal.low && !legal.high && legal.below.empty();
}

Result<tensor::IntegerRange> integer_range(const task::TensorSpec& spec, const task::Dims& dims) {
  const task::Legal& legal = spec.legal;
  const bool is_unsigned = tensor::is_unsigned_int(spec.dtype);
  tensor::IntegerRange range{is_unsigned ? 0 : -100, is_unsigned ? 200 : 100};
  if (legal.low) range.low = *legal.low;
  if (legal.high) range.high = *legal.high;
  if (!legal.below.empty()) {
    Result<int64_t> below = task::extent_at(legal.below, dims);
    if (!below)
      return std::move(below).error().context(
          fmt::format("input '{}' counts below '{}'", spec.name, legal.below));
    if (!legal.low) range.low = 0;
    range.high = *below - 1;
  }
  constexpr int64_t kWidth = 200;
  const bool only_low = legal.low && !legal.high && legal.below.empty();
  const bool only_high = !legal.low && legal.high && legal.below.empty();
  if (only_low) range.high = range.low > INT64_MAX - kWidth ? INT64_MAX : range.low + kWidth;
  if (only_high && range.low > range.high)
    range.low = range.high < INT64_MIN + kWidth ? INT64_MIN : range.high - kWidth;
  if (range.low > range.high)
    return input_error(
        "input '{}' has no legal value{}: the lowest is {}, the highest {}", spec.name,
        legal.below.empty() ? "" : fmt::format(" where {} = {}", legal.below, range.high + 1),
        range.low, range.high);
  return range;
}

Result<HostTensor> draw_plain(const TensorDraw& draw) {
  return tensor::is_float(draw.spec.dtype) ? draw_float(draw) : draw_integer(draw);
}

}  // namespace kw::inputs
