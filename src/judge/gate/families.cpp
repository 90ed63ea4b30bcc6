// The problem: ordinary inputs hide many errors, such as overflow, cancellation, ties, or a wrong
// type inside. Each family exposes one kind of error; values stay within the task's legal ranges.
// The same seed gives the same bytes for any number of threads. The alternative, recorded tensors,
// would be large, and authors of kernels could know them. The cost is time to draw: one pass per
// tensor, and one more for each change of its values.
#include "gate/families.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "core/text.h"
#include "gate/pieces.h"
#include "tensor/convert.h"
#include "tensor/inputs.h"

namespace kw::gate {

namespace {

using tensor::DType;
using tensor::Family;
using tensor::HostTensor;

constexpr int64_t kDrawChunk = 8192, kDrawChunksPerThread = 32;
constexpr double kLeastPositive = 0x1p-6;
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

void transform(HostTensor* tensor, const std::function<double(double)>& change) {
  const int64_t count = tensor::value_count(*tensor);
  const int64_t chunks = (count + kDrawChunk - 1) / kDrawChunk;
  const int pieces = thread_count(chunks, kDrawChunksPerThread, 0);
  in_pieces(chunks, pieces, [&](int, int64_t begin, int64_t end) {
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

Result<HostTensor> draw_float(const task::TensorSpec& spec, const std::vector<int64_t>& shape,
                              const std::string& family, uint64_t seed) {
  const auto base =
      family == "probe" || family == "offset" ? Family::Normal : *tensor::family_from_name(family);
  const auto row = std::ranges::find(kOffsets, spec.dtype, &Offset::type);
  const bool own_offset = family == "offset" && row != std::end(kOffsets);
  HostTensor tensor = KW_TRY(tensor::make_input(
      spec.dtype, shape, family == "offset" && !own_offset ? Family::Offset : base, seed));
  if (own_offset) {
    const double sign = seed % 2 == 0 ? 1 : -1;
    transform(&tensor, [&](double v) { return sign * row->mean + row->deviation * v; });
  }
  if (family == "probe" || family == "spikes") plant(&tensor, derive_seed(seed, 7));
  return tensor;
}

void keep_legal(const task::Legal& legal, HostTensor* tensor) {
  if (legal.positive)
    transform(tensor, [](double v) { return std::max(std::fabs(v), kLeastPositive); });
  if (!legal.float_low && !legal.float_high) return;
  const double low = legal.float_low.value_or(-HUGE_VAL);
  const double high = legal.float_high.value_or(HUGE_VAL);
  // Spreads values between the limits; clamping would put them all at a limit.
  const bool both = std::isfinite(low) && std::isfinite(high);
  transform(tensor, [&](double v) {
    if (v >= low && v <= high) return v;
    if (!both || !std::isfinite(v)) return std::isnan(v) ? v : std::clamp(v, low, high);
    const double share = std::fabs(v) / (1 + std::fabs(v));
    return low + (high - low) * share;
  });
}

// Elements outside the structure become 0, or the mirrored element.
void keep_structure(task::Structure structure, HostTensor* tensor) {
  const size_t rank = tensor->shape.size();
  if (structure == task::Structure::General || rank < 2) return;
  const int64_t rows = tensor->shape[rank - 2], columns = tensor->shape[rank - 1];
  const int64_t count = tensor::value_count(*tensor);
  for (int64_t at = 0; at < count; ++at) {
    const int64_t row = at / columns % rows, column = at % columns;
    const bool kept = structure == task::Structure::Upper ? column >= row : column <= row;
    if (kept) continue;
    const int64_t mirrored = at - row * columns - column + column * columns + row;
    const bool symmetric =
        structure == task::Structure::Symmetric && column < rows && row < columns;
    const double value = symmetric ? tensor::get_element(*tensor, mirrored) : 0;
    tensor::set_element(*tensor, at, value);
  }
}

Result<tensor::IntegerRange> integer_range(const task::TensorSpec& spec, const task::Dims& dims) {
  const task::Legal& legal = spec.legal;
  const bool is_unsigned = tensor::is_unsigned_int(spec.dtype);
  tensor::IntegerRange range{is_unsigned ? 0 : -100, is_unsigned ? 200 : 100};
  if (legal.low) range.low = *legal.low;
  if (legal.high) range.high = *legal.high;
  if (!legal.high_dim.empty()) {
    const auto dim = dims.find(legal.high_dim);
    if (dim == dims.end())
      return input_error("input '{}' counts below dim '{}', which the task does not have",
                         spec.name, legal.high_dim);
    if (!legal.low) range.low = 0;
    range.high = dim->second - 1;
  }
  if (legal.low && !legal.high && legal.high_dim.empty())
    range.high = std::max(range.low, range.low + 200);
  range.high = std::max(range.low, range.high);
  return range;
}

// Calls `visit` for every element with its own random draw.
void for_each_draw(const HostTensor& tensor, uint64_t seed,
                   const std::function<void(int64_t at, uint64_t draw)>& visit) {
  const int64_t count = tensor::value_count(tensor);
  const int64_t chunks = (count + kDrawChunk - 1) / kDrawChunk;
  in_pieces(chunks, thread_count(chunks, kDrawChunksPerThread, 0),
            [&](int, int64_t begin, int64_t end) {
              for (int64_t at = begin * kDrawChunk; at < std::min(count, end * kDrawChunk); ++at)
                visit(at, derive_seed(seed, static_cast<uint64_t>(at)));
            });
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

Result<HostTensor> draw_integer(const task::TensorSpec& spec, const std::vector<int64_t>& shape,
                                const task::Dims& dims, const std::string& family, uint64_t seed) {
  if (spec.legal.permutation) {
    HostTensor tensor = KW_TRY(tensor::make_tensor(spec.dtype, shape));
    permute_rows(&tensor, seed);
    return tensor;
  }
  if (spec.dtype == DType::Bool) return draw_bool(shape, family, seed);
  // These families have no meaning for integers, or ("special": the type's extremes) may be
  // illegal. Uniform values are drawn instead.
  const bool plain = family == "probe" || family == "special" || family == "offset" ||
                     family == "denormal" || family == "normal";
  const Family base = plain ? Family::Uniform : *tensor::family_from_name(family);
  const tensor::IntegerRange range = KW_TRY(integer_range(spec, dims));
  HostTensor tensor = KW_TRY(tensor::make_input(spec.dtype, shape, base, seed, range));
  const task::Legal& legal = spec.legal;
  const bool free = !legal.low && !legal.high && legal.high_dim.empty();
  if (free && family == "spikes") scatter_large(&tensor, derive_seed(seed, 11));
  return tensor;
}

Result<HostTensor> draw(const task::TensorSpec& spec, const std::vector<int64_t>& shape,
                        const task::Dims& dims, const std::string& family, uint64_t seed) {
  if (!tensor::is_float(spec.dtype)) return draw_integer(spec, shape, dims, family, seed);
  const bool weight = spec.role == task::Role::Weight;
  HostTensor tensor = KW_TRY(draw_float(spec, shape, weight ? "normal" : family, seed));
  keep_legal(spec.legal, &tensor);
  keep_structure(spec.legal.structure, &tensor);
  return tensor;
}

}  // namespace

uint64_t derive_seed(uint64_t seed, uint64_t purpose) {
  uint64_t x = seed + (purpose + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) & 0x7fffffffffffffff;  // seeds are written and parsed as int64
}

const std::vector<std::string>& all_families() {
  static const std::vector<std::string> kNames = {"normal", "spikes", "offset", "uniform",
                                                  "probe",  "heavy",  "sorted", "denormal",
                                                  "equal",  "zeros",  "special"};
  return kNames;
}

std::vector<std::string> families_for(const task::Task& task) {
  const bool floats = std::ranges::any_of(task.inputs, [](const task::TensorSpec& spec) {
    return tensor::is_float(spec.dtype) && spec.role == task::Role::Input;
  });
  std::vector<std::string> names;
  for (const std::string& name : all_families()) {
    if (name == "special" && task.precision.nan != task::NanPolicy::Propagate) continue;
    if (name == "denormal" && task.precision.flush) continue;
    const bool float_only =
        name == "offset" || name == "probe" || name == "denormal" || name == "special";
    if (float_only && !floats) continue;
    names.push_back(name);
  }
  return names;
}

Result<std::vector<HostTensor>> draw_inputs(const task::Task& task, const graph::Graph& graph,
                                            const task::Dims& dims, const std::string& family,
                                            uint64_t seed) {
  if (std::ranges::find(all_families(), family) == all_families().end()) {
    return input_error("there is no input family '{}'{}; families: {}", family,
                       did_you_mean(family, all_families()), join(all_families(), ", "));
  }
  std::vector<HostTensor> tensors;
  for (const graph::NamedNode& input : graph.inputs) {
    const graph::Node& node = graph[input.node];
    task::TensorSpec plain;
    plain.name = input.name;
    plain.dtype = node.dtype;
    const task::TensorSpec* spec = task.find_input(input.name);
    const uint64_t own = derive_seed(seed, tensors.size());
    tensors.push_back(KW_TRY(
        draw(spec != nullptr ? *spec : plain, graph::values_of(node.shape), dims, family, own)));
  }
  return tensors;
}

}  // namespace kw::gate
