#include "kernel/buffers.h"

#include <algorithm>

#include "core/contains.h"
#include "tensor/npy.h"

namespace kw::kernel {

namespace {

using tensor::shape_text;

Result<std::vector<int64_t>> extents(const TensorDecl& decl, const std::vector<Expr>& exprs,
                                     const Scope& scope, const char* what) {
  std::vector<int64_t> values;
  for (const Expr& expr : exprs) {
    const int64_t value = KW_TRY(evaluate(expr, scope));
    if (value < 0 || value > kMaxDim) {
      const std::string names = values_of(expr, scope);
      return input_error("line {}: {} '{}' of '{}' is {}{}, outside 0 … 2^40", decl.line, what,
                         expr.text, decl.name, value, names.empty() ? "" : " (" + names + ")");
    }
    values.push_back(value);
  }
  return values;
}

// The number of elements from the first to the last that the tensor touches; not set on overflow.
std::optional<int64_t> storage_elements(const Buffer& buffer) {
  if (contains(buffer.shape, 0)) return 0;
  int64_t elements = 1;
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    if (buffer.strides.empty()) {
      if (__builtin_mul_overflow(elements, buffer.shape[i], &elements)) return std::nullopt;
      continue;
    }
    int64_t reach = 0;
    if (__builtin_mul_overflow(buffer.shape[i] - 1, buffer.strides[i], &reach)) return std::nullopt;
    if (__builtin_add_overflow(elements, reach, &elements)) return std::nullopt;
  }
  return elements;
}

// If two elements shared an address, the result would depend on the order of the writes.
bool overlaps_itself(const Buffer& buffer) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, extent
  for (size_t i = 0; i < buffer.strides.size(); ++i) {
    if (buffer.shape[i] == 0) return false;
    if (buffer.shape[i] > 1) axes.emplace_back(buffer.strides[i], buffer.shape[i]);
  }
  std::ranges::sort(axes);
  int64_t reach = 0;
  for (const auto& [stride, extent] : axes) {
    if (stride <= reach) return true;
    reach += (extent - 1) * stride;
  }
  return false;
}

}  // namespace

Result<Buffer> make_buffer(const TensorDecl& decl, const Scope& scope) {
  Buffer buffer;
  buffer.name = decl.name;
  buffer.role = decl.role;
  buffer.dtype = decl.dtype;
  buffer.align = decl.align;
  buffer.fill = decl.fill;
  buffer.present = scope.absent.count(decl.name) == 0;
  if (!buffer.present) return buffer;
  buffer.shape = KW_TRY(extents(decl, decl.shape, scope, "extent"));
  buffer.strides = KW_TRY(extents(decl, decl.strides, scope, "stride"));
  const std::optional<int64_t> elements = storage_elements(buffer);
  if (!elements ||
      __builtin_mul_overflow(*elements, int64_t{tensor::dtype_size(decl.dtype)}, &buffer.bytes)) {
    return input_error("line {}: '{}' with shape {} is too large: its size does not fit 64 bits",
                       decl.line, decl.name, shape_text(buffer.shape));
  }
  if (decl.role != Role::Input && overlaps_itself(buffer)) {
    return input_error("line {}: elements of '{}' share memory: shape {}, strides {}", decl.line,
                       decl.name, shape_text(buffer.shape), shape_text(buffer.strides));
  }
  return buffer;
}

}  // namespace kw::kernel
