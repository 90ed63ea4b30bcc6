#include "engine/layout.h"

#include <cstring>
#include <functional>

#include "base/check.h"

namespace kw::engine {

namespace {

using tensor::HostTensor;

// Calls visit(logical element, storage element) for every element.
void for_each_element(const kernel::Buffer& buffer,
                      const std::function<void(size_t, size_t)>& visit) {
  const size_t rank = buffer.shape.size();
  KW_CHECK(buffer.strides.size() == rank, "one stride per dimension");
  for (const int64_t extent : buffer.shape) {
    if (extent == 0) return;
  }
  std::vector<int64_t> index(rank, 0);
  int64_t at = 0;
  for (size_t logical = 0;; ++logical) {
    visit(logical, static_cast<size_t>(at));
    size_t d = rank;
    while (d-- > 0) {
      at += buffer.strides[d];
      if (++index[d] < buffer.shape[d]) break;
      at -= buffer.strides[d] * buffer.shape[d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

}  // namespace

HostTensor to_storage(const kernel::Buffer& buffer, HostTensor logical) {
  if (buffer.strides.empty()) return logical;
  const auto size = static_cast<size_t>(tensor::dtype_size(buffer.dtype));
  HostTensor out{buffer.dtype, buffer.shape,
                 std::vector<std::byte>(static_cast<size_t>(buffer.bytes), std::byte{0xff})};
  for_each_element(buffer, [&](size_t from, size_t to) {
    KW_CHECK((to + 1) * size <= out.data.size(), "strides stay inside the buffer's storage");
    std::memcpy(out.data.data() + to * size, logical.data.data() + from * size, size);
  });
  return out;
}

HostTensor from_storage(const kernel::Buffer& buffer, HostTensor storage) {
  if (buffer.strides.empty()) return storage;
  const auto size = static_cast<size_t>(tensor::dtype_size(buffer.dtype));
  HostTensor out{buffer.dtype, buffer.shape, {}};
  for_each_element(buffer, [&](size_t, size_t from) {
    KW_CHECK((from + 1) * size <= storage.data.size(), "strides stay inside the buffer's storage");
    out.data.insert(out.data.end(), storage.data.begin() + static_cast<ptrdiff_t>(from * size),
                    storage.data.begin() + static_cast<ptrdiff_t>((from + 1) * size));
  });
  return out;
}

}  // namespace kw::engine
