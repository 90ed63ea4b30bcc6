#include "tensor/host_tensor.h"

#include <cmath>
#include <new>

#include "core/check.h"
#include "core/text.h"
#include "os/memory.h"
#include "tensor/convert.h"
#include "tensor/npy.h"

namespace kw::tensor {

namespace {

constexpr uint64_t kAskFirst = uint64_t{256} << 20;

void check_index(const HostTensor& tensor, int64_t index) {
  const auto elements = static_cast<int64_t>(tensor.data.size()) / dtype_size(tensor.dtype);
  KW_CHECK(index >= 0 && index < elements, "element index inside the tensor");
}

// Rounds to nearest even and clips to the type; NaN becomes 0.
int64_t to_integer(DType type, double value) {
  const int bits = dtype_size(type) * 8;
  const double rounded = std::nearbyint(value);
  if (std::isnan(rounded)) return 0;
  const bool is_signed = is_signed_int(type);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  if (rounded <= low) return is_signed ? INT64_MIN >> (64 - bits) : 0;
  if (rounded >= end)
    return is_signed ? INT64_MAX >> (64 - bits) : static_cast<int64_t>(UINT64_MAX >> (64 - bits));
  return is_signed ? static_cast<int64_t>(rounded)
                   : static_cast<int64_t>(static_cast<uint64_t>(rounded));
}

}  // namespace

Result<int64_t> element_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return input_error("shape {} has a negative extent", shape_text(shape));
    empty = empty || extent == 0;
    overflow = overflow || __builtin_mul_overflow(count, extent, &count);
  }
  if (empty) return int64_t{0};
  if (overflow)
    return input_error("shape {} has more elements than 64 bits can count", shape_text(shape));
  return count;
}

Result<HostTensor> make_tensor(DType dtype, std::vector<int64_t> shape) {
  const int64_t count = KW_TRY(element_count(shape));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, int64_t{dtype_size(dtype)}, &bytes)) {
    return input_error("shape {} of {} is larger than any memory", shape_text(shape),
                       dtype_name(dtype));
  }
  HostTensor tensor{dtype, std::move(shape), {}};
  // Linux grants more memory than it has and kills the process later. So large requests are
  // compared with the available memory.
  bool fits = static_cast<uint64_t>(bytes) < kAskFirst ||
              static_cast<uint64_t>(bytes) < os::available_memory();
  try {
    if (fits) tensor.data.resize(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    fits = false;
  }
  if (fits) return tensor;
  return environment_error("not enough memory for {} of {} ({}; {} available)",
                           shape_text(tensor.shape), dtype_name(dtype),
                           human_bytes(static_cast<uint64_t>(bytes)),
                           human_bytes(os::available_memory()));
}

double get_element(const HostTensor& tensor, int64_t index) {
  check_index(tensor, index);
  double value = 0;
  load_values(tensor, tensor.dtype == DType::Fp4e2m1x2 ? index * 2 : index, {&value, 1});
  return value;
}

void set_element(HostTensor& tensor, int64_t index, double value) {
  check_index(tensor, index);
  if (is_float(tensor.dtype)) {
    store_floats(tensor, tensor.dtype == DType::Fp4e2m1x2 ? index * 2 : index, {&value, 1});
  } else if (tensor.dtype == DType::Bool) {
    store_int(tensor, index, value != 0 ? 1 : 0);
  } else {
    store_int(tensor, index, to_integer(tensor.dtype, value));
  }
}

}  // namespace kw::tensor
