// Callers compute in double, but a tensor stores seventeen dtypes, some with two values per byte.
// This source converts runs of values, with one switch per run instead of one per element. A
// conversion per element through a function pointer would be simpler, but slower for large inputs.
// Storage is accessed by memcpy, because the bytes of a tensor have no element type. Each value is
// rounded once; fp8 and fp4 saturate as the conversion instructions do. The cost: two values of fp4
// share a byte, so threads must not split it.
#include "tensor/convert.h"

#include <cmath>
#include <cstring>

#include "numeric/small_float.h"

namespace kw::tensor {

namespace {

template <typename T>
T load_raw(const HostTensor& tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.data.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store_raw(HostTensor& tensor, int64_t index, T value) {
  std::memcpy(tensor.data.data() + static_cast<size_t>(index) * sizeof(T), &value, sizeof(T));
}

template <typename T, typename Convert>
void store_each(HostTensor& tensor, int64_t start, std::span<const double> values,
                Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    store_raw<T>(tensor, start + static_cast<int64_t>(i), convert(values[i]));
  }
}

template <typename T, typename Convert>
void load_each(const HostTensor& tensor, int64_t start, std::span<double> values, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(convert(load_raw<T>(tensor, start + static_cast<int64_t>(i))));
  }
}

template <typename T>
void load_plain(const HostTensor& tensor, int64_t start, std::span<double> values) {
  load_each<T>(tensor, start, values, [](T v) { return v; });
}

uint8_t to_e5m2(double v) {
  if (std::isinf(v)) return static_cast<uint8_t>(numeric::E5m2::infinity | (v < 0 ? 0x80 : 0));
  return numeric::double_to_e5m2(v);
}

void store_fp4(HostTensor& tensor, int64_t start, std::span<const double> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = start + static_cast<int64_t>(i);
    const unsigned shift = at % 2 == 0 ? 0 : 4;
    const unsigned old = load_raw<uint8_t>(tensor, at / 2);
    const unsigned bits = numeric::double_to_e2m1(values[i]);
    store_raw<uint8_t>(tensor, at / 2,
                       static_cast<uint8_t>((old & ~(0xfu << shift)) | (bits << shift)));
  }
}

void load_fp4(const HostTensor& tensor, int64_t start, std::span<double> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = start + static_cast<int64_t>(i);
    const unsigned byte = load_raw<uint8_t>(tensor, at / 2);
    values[i] = static_cast<double>(
        numeric::e2m1_to_float(static_cast<uint8_t>(at % 2 == 0 ? byte & 0xf : byte >> 4)));
  }
}

}  // namespace

void store_floats(HostTensor& tensor, int64_t start, std::span<const double> values) {
  switch (tensor.dtype) {
    case DType::Fp64:
      return store_each<double>(tensor, start, values, [](double v) { return v; });
    case DType::Fp32:
      return store_each<float>(tensor, start, values,
                               [](double v) { return static_cast<float>(v); });
    case DType::Fp16:
      return store_each<uint16_t>(tensor, start, values, numeric::double_to_fp16);
    case DType::Bf16:
      return store_each<uint16_t>(tensor, start, values, numeric::double_to_bf16);
    case DType::Fp8e4m3:
      return store_each<uint8_t>(tensor, start, values, numeric::double_to_e4m3);
    case DType::Fp8e5m2:
      return store_each<uint8_t>(tensor, start, values, to_e5m2);
    case DType::Fp4e2m1x2:
      return store_fp4(tensor, start, values);
    case DType::E8m0:
      return store_each<uint8_t>(tensor, start, values, [](double v) {
        return numeric::float_to_e8m0(static_cast<float>(v));
      });
    default:
      for (size_t i = 0; i < values.size(); ++i)
        set_element(tensor, start + static_cast<int64_t>(i), values[i]);
  }
}

void load_values(const HostTensor& tensor, int64_t start, std::span<double> values) {
  switch (tensor.dtype) {
    case DType::Fp64:
      return load_plain<double>(tensor, start, values);
    case DType::Fp32:
      return load_plain<float>(tensor, start, values);
    case DType::Fp16:
      return load_each<uint16_t>(tensor, start, values, numeric::fp16_to_float);
    case DType::Bf16:
      return load_each<uint16_t>(tensor, start, values, numeric::bf16_to_float);
    case DType::Fp8e4m3:
      return load_each<uint8_t>(tensor, start, values, numeric::e4m3_to_float);
    case DType::Fp8e5m2:
      return load_each<uint8_t>(tensor, start, values, numeric::e5m2_to_float);
    case DType::Fp4e2m1x2:
      return load_fp4(tensor, start, values);
    case DType::E8m0:
      return load_each<uint8_t>(tensor, start, values, numeric::e8m0_to_float);
    case DType::Int64:
      return load_plain<int64_t>(tensor, start, values);
    case DType::Int32:
      return load_plain<int32_t>(tensor, start, values);
    case DType::Int16:
      return load_plain<int16_t>(tensor, start, values);
    case DType::Int8:
      return load_plain<int8_t>(tensor, start, values);
    case DType::Uint64:
      return load_plain<uint64_t>(tensor, start, values);
    case DType::Uint32:
      return load_plain<uint32_t>(tensor, start, values);
    case DType::Uint16:
      return load_plain<uint16_t>(tensor, start, values);
    case DType::Uint8:
    case DType::Bool:
      return load_plain<uint8_t>(tensor, start, values);
  }
}

void store_int(HostTensor& tensor, int64_t index, int64_t value) {
  switch (dtype_size(tensor.dtype)) {
    case 8:
      return store_raw<int64_t>(tensor, index, value);
    case 4:
      return store_raw<int32_t>(tensor, index, static_cast<int32_t>(value));
    case 2:
      return store_raw<int16_t>(tensor, index, static_cast<int16_t>(value));
    default:
      return store_raw<int8_t>(tensor, index, static_cast<int8_t>(value));
  }
}

int64_t value_count(const HostTensor& tensor) {
  const auto elements = static_cast<int64_t>(tensor.data.size()) / dtype_size(tensor.dtype);
  return tensor.dtype == DType::Fp4e2m1x2 ? elements * 2 : elements;
}

}  // namespace kw::tensor
