// Numbers of all dtypes in two forms: floats as long double, integers as int64 with the bits of
// their type. Conversions of stored bytes and roundings to small formats are those of `tensor` and
// `numeric`: they define the layout of data, not the meaning of ops.
#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "numeric/small_float.h"
#include "second_opinion_steps.h"
#include "tensor/convert.h"

namespace kw::mutation {

bool is_whole(DType type) { return !tensor::is_float(type); }

int64_t low_bits(DType type, int64_t bits) {
  if (type == DType::Bool) return bits != 0 ? 1 : 0;
  const int unused = 64 - 8 * tensor::dtype_size(type);
  const uint64_t upper = static_cast<uint64_t>(bits) << unused;
  if (tensor::is_unsigned_int(type)) return static_cast<int64_t>(upper >> unused);
  return static_cast<int64_t>(upper) >> unused;
}

Real real_of(DType type, int64_t bits) {
  if (type == DType::Uint64) return static_cast<Real>(static_cast<uint64_t>(bits));
  return static_cast<Real>(bits);
}

int64_t whole_of(DType type, Real x) {
  if (type == DType::Bool) return x != 0 ? 1 : 0;
  if (std::isnan(x)) return 0;
  if (type == DType::Uint64 && x >= 0x1p63L)
    return x >= 0x1p64L ? -1 : static_cast<int64_t>(static_cast<uint64_t>(x));
  if (x >= 0x1p63L) return low_bits(type, INT64_MAX);
  if (x <= -0x1p63L) return low_bits(type, INT64_MIN);
  return low_bits(type, static_cast<int64_t>(x));
}

Real working(DType type, Real x) {
  if (type == DType::Fp64) return static_cast<Real>(static_cast<double>(x));
  return static_cast<Real>(static_cast<float>(x));
}

Real stored(DType type, Real x) {
  using numeric::Overflow, numeric::Round;
  const auto f = static_cast<float>(x);
  switch (type) {
    case DType::Fp16:
      return numeric::fp16_to_float(numeric::float_to_fp16(f));
    case DType::Bf16:
      return numeric::bf16_to_float(numeric::float_to_bf16(f));
    case DType::Fp8e4m3:
      return numeric::widen<numeric::E4m3>(
          numeric::narrow<numeric::E4m3, Round::Nearest, Overflow::Infinity>(f));
    case DType::Fp8e5m2:
      return numeric::widen<numeric::E5m2>(
          numeric::narrow<numeric::E5m2, Round::Nearest, Overflow::Infinity>(f));
    case DType::E8m0:
      return numeric::e8m0_to_float(numeric::float_to_e8m0(f));
    default:
      return working(type, x);
  }
}

Real chained(const Step& step, Real x) {
  return step.arithmetic == Arithmetic::Declared ? working(step.node.dtype, x) : x;
}

namespace {

template <class T>
int64_t stored_integer(const tensor::HostTensor& tensor, int64_t at) {
  T raw;
  std::memcpy(&raw, tensor.data.data() + static_cast<size_t>(at) * sizeof(T), sizeof(T));
  return static_cast<int64_t>(raw);
}

}  // namespace

Result<WideTensor> read_tensor(const tensor::HostTensor& tensor) {
  const int64_t count = count_of(tensor.shape);
  const auto bytes = static_cast<size_t>(count) * static_cast<size_t>(dtype_size(tensor.dtype));
  if (tensor.dtype == DType::Fp4e2m1x2) return input_error("input: cannot take a packed type");
  if (tensor.data.size() != bytes) return input_error("input: the data do not fit the shape");
  WideTensor out{tensor.dtype, tensor.shape, std::vector<Real>(static_cast<size_t>(count)), {}};
  if (is_whole(tensor.dtype)) out.integers.resize(static_cast<size_t>(count));
  for (int64_t at = 0; at < count; ++at) {
    if (is_whole(tensor.dtype)) {
      const int size = tensor::dtype_size(tensor.dtype);
      set_integer(out, at,
                  size == 8   ? stored_integer<int64_t>(tensor, at)
                  : size == 4 ? stored_integer<int32_t>(tensor, at)
                  : size == 2 ? stored_integer<int16_t>(tensor, at)
                              : stored_integer<int8_t>(tensor, at));
    } else {
      double number = 0;
      tensor::load_values(tensor, at, {&number, 1});
      out.value[static_cast<size_t>(at)] = number;
    }
  }
  return out;
}

WideTensor zeros_of(const Step& step) {
  WideTensor out{step.node.dtype, graph::values_of(step.node.shape), {}, {}};
  const auto count = static_cast<size_t>(count_of(out.shape));
  out.value.resize(count);
  if (is_whole(out.dtype)) out.integers.resize(count);
  return out;
}

void set_integer(WideTensor& tensor, int64_t at, int64_t bits) {
  const int64_t kept = low_bits(tensor.dtype, bits);
  tensor.integers[static_cast<size_t>(at)] = kept;
  tensor.value[static_cast<size_t>(at)] = real_of(tensor.dtype, kept);
}

void copy_element(const WideTensor& from, int64_t source, WideTensor& to, int64_t target) {
  const auto s = static_cast<size_t>(source), t = static_cast<size_t>(target);
  to.value[t] = from.value[s];
  if (is_whole(to.dtype)) to.integers[t] = from.integers[s];
}

int64_t count_of(const Extents& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

int64_t place_of(const Extents& shape, const Extents& at) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + at[d];
  return place;
}

Status check_index(const Step& step) {
  const int64_t extent = step.x().shape[step.dim()];
  for (const int64_t index : step.in[1]->integers) {
    if (index < 0 || index >= extent)
      return step.refuse(fmt::format("index {} is outside of {} elements", index, extent));
  }
  return Done{};
}

Lines lines_along(const Extents& shape, size_t dim) {
  Lines lines;
  lines.length = shape[dim];
  for (size_t d = dim + 1; d < shape.size(); ++d) lines.stride *= shape[d];
  for_each_element(shape, [&](int64_t position, const Extents& at) {
    if (at[dim] == 0) lines.starts.push_back(position);
  });
  return lines;
}

}  // namespace kw::mutation
