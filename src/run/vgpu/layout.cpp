#include "vgpu/layout.h"

#include <cstring>

#include <fmt/core.h>

namespace kw::vgpu {
bool is_dense(const kernel::Buffer& buffer) {
  int64_t expected = 1;
  for (size_t axis = buffer.strides.size(); axis-- > 0;) {
    if (buffer.shape[axis] != 1 && buffer.strides[axis] != expected) return false;
    expected *= buffer.shape[axis];
  }
  return true;
}

namespace {

int64_t element_count(const kernel::Buffer& buffer) {
  auto count = tensor::element_count(buffer.shape);
  return count ? *count : 0;
}

}  // namespace

int64_t logical_bytes(const kernel::Buffer& buffer) {
  return element_count(buffer) * tensor::dtype_size(buffer.dtype);
}

std::string layout_problem(const kernel::Buffer& buffer) {
  const int64_t size = tensor::dtype_size(buffer.dtype);
  const auto count = tensor::element_count(buffer.shape);
  if (!count) return count.error().message;
  if (buffer.bytes < 0) return "its size is negative";
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size())
    return fmt::format("it has {} strides for {} dimensions", buffer.strides.size(),
                       buffer.shape.size());
  if (*count == 0) return "";
  int64_t last = *count - 1;
  if (!buffer.strides.empty()) {
    last = 0;
    for (size_t axis = 0; axis < buffer.shape.size(); ++axis) {
      int64_t reach = 0;
      if (buffer.strides[axis] < 0 ||
          __builtin_mul_overflow(buffer.shape[axis] - 1, buffer.strides[axis], &reach) ||
          __builtin_add_overflow(last, reach, &last))
        return "a stride is negative or overflows";
    }
  }
  if (last >= buffer.bytes / size)
    return fmt::format("element {} lies outside its {} bytes", last, buffer.bytes);
  return "";
}

void for_each_element(const kernel::Buffer& buffer,
                      const std::function<void(int64_t, int64_t)>& visit) {
  const int64_t count = element_count(buffer);
  const bool dense = is_dense(buffer);
  std::vector<int64_t> index(buffer.shape.size(), 0);
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, dense ? i : at);
    for (size_t axis = dense ? 0 : index.size(); axis-- > 0;) {
      at += buffer.strides[axis];
      if (++index[axis] < buffer.shape[axis]) break;
      at -= buffer.strides[axis] * buffer.shape[axis];
      index[axis] = 0;
    }
  }
}

bool spread(const kernel::Buffer& buffer, const tensor::HostTensor& from, std::byte* storage) {
  const size_t size = static_cast<size_t>(tensor::dtype_size(buffer.dtype));
  if (from.data.size() != static_cast<size_t>(element_count(buffer)) * size) return false;
  if (from.data.empty()) return true;
  if (is_dense(buffer)) {
    std::memcpy(storage, from.data.data(), from.data.size());
    return true;
  }
  for_each_element(buffer, [&](int64_t i, int64_t at) {
    std::memcpy(storage + static_cast<size_t>(at) * size, &from.data[static_cast<size_t>(i) * size],
                size);
  });
  return true;
}

tensor::HostTensor collect(const kernel::Buffer& buffer, const std::byte* storage) {
  const size_t size = static_cast<size_t>(tensor::dtype_size(buffer.dtype));
  tensor::HostTensor result{buffer.dtype, buffer.shape, {}};
  const size_t bytes = static_cast<size_t>(element_count(buffer)) * size;
  if (bytes == 0) return result;
  if (is_dense(buffer)) {
    result.data.assign(storage, storage + bytes);
    return result;
  }
  result.data.resize(bytes);
  for_each_element(buffer, [&](int64_t i, int64_t at) {
    std::memcpy(&result.data[static_cast<size_t>(i) * size],
                storage + static_cast<size_t>(at) * size, size);
  });
  return result;
}

}  // namespace kw::vgpu
