#include "clib/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/contains.h"
#include "core/text.h"

namespace kw::clib {
namespace {

using kernel::Buffer;
using tensor::DType;

constexpr int kCpu = 1, kCuda = 2, kPinned = 3, kManaged = 13;

/// A dtype in DLPack's terms.
struct TypeRow {
  DType dtype;
  uint8_t code, bits;
  uint16_t lanes;
};
constexpr TypeRow kTypes[] = {
    {DType::Int8, 0, 8, 1},    {DType::Int16, 0, 16, 1},     {DType::Int32, 0, 32, 1},
    {DType::Int64, 0, 64, 1},  {DType::Uint8, 1, 8, 1},      {DType::Uint16, 1, 16, 1},
    {DType::Uint32, 1, 32, 1}, {DType::Uint64, 1, 64, 1},    {DType::Fp16, 2, 16, 1},
    {DType::Fp32, 2, 32, 1},   {DType::Fp64, 2, 64, 1},      {DType::Bf16, 4, 16, 1},
    {DType::Bool, 6, 8, 1},    {DType::Fp8e4m3, 10, 8, 1},   {DType::Fp8e5m2, 12, 8, 1},
    {DType::E8m0, 14, 8, 1},   {DType::Fp4e2m1x2, 17, 4, 2},
};

std::string type_text(const kw_tensor& given) {
  for (const TypeRow& row : kTypes) {
    if (row.code == given.type_code && row.bits == given.type_bits && row.lanes == given.type_lanes)
      return tensor::dtype_name(row.dtype);
  }
  return fmt::format("a type kernelwright does not know (code {}, {} bits, {} lanes)",
                     given.type_code, given.type_bits, given.type_lanes);
}

std::string place_text(const kw_tensor& given) {
  if (given.device_type == kCpu || given.device_type == kPinned) return "the CPU";
  if (given.device_type == kCuda || given.device_type == kManaged)
    return fmt::format("cuda:{}", given.device_id);
  return fmt::format("a device of kind {}", given.device_type);
}

template <typename Numbers>
std::string list_text(const Numbers& numbers) {
  std::vector<std::string> words;
  for (const int64_t number : numbers) words.push_back(fmt::format("{}", number));
  return "[" + join(words, ", ") + "]";
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Status check_place(const Buffer& buffer, const kw_tensor& given, const TensorPlace& place) {
  const bool managed = given.device_type == kManaged;
  const bool on_cuda = (given.device_type == kCuda && given.device_id == place.ordinal) || managed;
  const bool on_cpu = given.device_type == kCpu || given.device_type == kPinned;
  if (place.cuda ? on_cuda : on_cpu) return Done{};
  return input_error("'{}' is on {}, but this call runs on {}; move it there first", buffer.name,
                     place_text(given), place.text());
}

Status check_strides(const Buffer& buffer, const kw_tensor& given) {
  const std::vector<int64_t>& shape = buffer.shape;
  if (given.strides == nullptr && buffer.strides.empty()) return Done{};
  const std::vector<int64_t> wanted =
      buffer.strides.empty() ? dense_strides(shape) : buffer.strides;
  const std::vector<int64_t> has =
      given.strides == nullptr ? dense_strides(shape)
                               : std::vector<int64_t>(given.strides, given.strides + given.ndim);
  if (contains(shape, 0)) return Done{};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] <= 1 || has[i] == wanted[i]) continue;
    if (!buffer.strides.empty())
      return input_error("'{}' has strides {}, but the kernel needs {}", buffer.name,
                         list_text(has), list_text(wanted));
    return input_error("'{}' is not contiguous: shape {} with strides {}; pass {}.contiguous()",
                       buffer.name, list_text(shape), list_text(has), buffer.name);
  }
  return Done{};
}

Status check_alignment(const Buffer& buffer, const kw_tensor& given) {
  const auto address = reinterpret_cast<uintptr_t>(address_of(given));
  const auto align = static_cast<uintptr_t>(std::max<int64_t>(buffer.align, 1));
  if (buffer.bytes == 0 || address % align == 0) return Done{};
  return input_error(
      "'{}' begins at an address that is not a multiple of {} bytes, as the kernel needs; pass a "
      "copy of it",
      buffer.name, buffer.align);
}

}  // namespace

std::string TensorPlace::text() const { return cuda ? fmt::format("cuda:{}", ordinal) : "the CPU"; }

Status check_tensor(const Buffer& buffer, const kw_tensor& given, const TensorPlace& place) {
  KW_TRY(check_place(buffer, given, place));
  if (const std::string type = type_text(given); type != tensor::dtype_name(buffer.dtype)) {
    return input_error("'{}' is {}, but the kernel needs {}", buffer.name, type,
                       tensor::dtype_name(buffer.dtype));
  }
  const std::vector<int64_t> shape(given.shape, given.shape + std::max(given.ndim, 0));
  if (shape != buffer.shape) {
    return input_error("'{}' has shape {}, but the kernel needs {}", buffer.name, list_text(shape),
                       list_text(buffer.shape));
  }
  KW_TRY(check_strides(buffer, given));
  if (buffer.bytes > 0 && given.data == nullptr)
    return input_error("'{}' has a null data pointer", buffer.name);
  return place.cuda ? check_alignment(buffer, given) : Status(Done{});
}

Status check_scratch(const Buffer& buffer, const kw_tensor& given, const TensorPlace& place) {
  KW_TRY(check_place(buffer, given, place));
  int64_t bytes = (int64_t{given.type_bits} * given.type_lanes + 7) / 8;
  for (int i = 0; i < given.ndim; ++i) bytes *= given.shape[i];
  if (bytes < buffer.bytes) {
    return input_error("scratch '{}' has {} bytes, but the kernel needs {}", buffer.name, bytes,
                       buffer.bytes);
  }
  return check_alignment(buffer, given);
}

}  // namespace kw::clib
