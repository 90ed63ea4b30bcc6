#include "cuda/storage_layout.h"

#include <fmt/core.h>

#include <cstring>
#include <vector>

#include "core/check.h"
#include "tensor/host_tensor.h"

namespace kw::cuda {
namespace {

/// Calls visit(dense index, storage index) for every element, in row-major order.
template <typename Visit>
void for_each_element(const kernel::Buffer& buffer, Visit visit) {
  const size_t rank = buffer.shape.size();
  const int64_t count =
      static_cast<int64_t>(dense_bytes(buffer)) / tensor::dtype_size(buffer.dtype);
  std::vector<int64_t> index(rank, 0);
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, at);
    for (size_t axis = rank; axis-- > 0;) {
      at += buffer.strides[axis];
      if (++index[axis] < buffer.shape[axis]) break;
      at -= buffer.strides[axis] * buffer.shape[axis];
      index[axis] = 0;
    }
  }
}

Error buffer_error(const kernel::Buffer& buffer, const std::string& why) {
  return input_error("buffer '{}': {}", buffer.name, why);
}

}  // namespace

bool is_dense(const kernel::Buffer& buffer) {
  int64_t expected = 1;
  if (buffer.strides.empty()) return true;
  for (size_t axis = buffer.shape.size(); axis-- > 0;) {
    if (buffer.shape[axis] != 1 && buffer.strides[axis] != expected) return false;
    expected *= buffer.shape[axis];
  }
  return true;
}

uint64_t dense_bytes(const kernel::Buffer& buffer) {
  auto count = tensor::element_count(buffer.shape);
  KW_CHECK(count.has_value(), "the layout was checked");
  return static_cast<uint64_t>(*count) * static_cast<uint64_t>(tensor::dtype_size(buffer.dtype));
}

Status check_layout(const kernel::Buffer& buffer) {
  const int64_t size = tensor::dtype_size(buffer.dtype);
  if (buffer.bytes < 0) return buffer_error(buffer, fmt::format("{} bytes", buffer.bytes));
  if (buffer.align < 1 || (buffer.align & (buffer.align - 1)) != 0 || buffer.align > 4096) {
    return buffer_error(buffer,
                        fmt::format("align {} is not a power of two up to 4096", buffer.align));
  }
  auto count = tensor::element_count(buffer.shape);
  if (!count) return buffer_error(buffer, count.error().message);
  if (*count > INT64_MAX / size) return buffer_error(buffer, "its size overflows");
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size()) {
    return buffer_error(buffer, fmt::format("{} strides for {} dimensions", buffer.strides.size(),
                                            buffer.shape.size()));
  }
  if (*count == 0) return Done{};
  int64_t last = *count - 1;
  if (!buffer.strides.empty()) {
    last = 0;
    for (size_t axis = 0; axis < buffer.shape.size(); ++axis) {
      int64_t step = 0;
      if (buffer.strides[axis] < 0 ||
          __builtin_mul_overflow(buffer.shape[axis] - 1, buffer.strides[axis], &step) ||
          __builtin_add_overflow(last, step, &last)) {
        return buffer_error(
            buffer, fmt::format("stride {} is negative or overflows", buffer.strides[axis]));
      }
    }
  }
  if (last >= buffer.bytes / size) {
    return buffer_error(buffer,
                        fmt::format("element {} lies outside its {} bytes", last, buffer.bytes));
  }
  return Done{};
}

void scatter(const kernel::Buffer& buffer, std::span<const std::byte> dense,
             std::span<std::byte> storage) {
  if (is_dense(buffer)) {
    std::memcpy(storage.data(), dense.data(), dense.size());
    return;
  }
  const auto size = static_cast<size_t>(tensor::dtype_size(buffer.dtype));
  for_each_element(buffer, [&](int64_t i, int64_t at) {
    std::memcpy(&storage[static_cast<size_t>(at) * size], &dense[static_cast<size_t>(i) * size],
                size);
  });
}

void gather(const kernel::Buffer& buffer, std::span<const std::byte> storage,
            std::span<std::byte> dense) {
  if (is_dense(buffer)) {
    std::memcpy(dense.data(), storage.data(), dense.size());
    return;
  }
  const auto size = static_cast<size_t>(tensor::dtype_size(buffer.dtype));
  for_each_element(buffer, [&](int64_t i, int64_t at) {
    std::memcpy(&dense[static_cast<size_t>(i) * size], &storage[static_cast<size_t>(at) * size],
                size);
  });
}

}  // namespace kw::cuda
