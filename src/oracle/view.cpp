#include "oracle/view.h"

#include "base/check.h"

namespace kw::oracle {

using graph::Node;
using graph::Op;

int64_t count_of(const Extents& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

View dense_view(const Extents& shape) {
  View view{shape, Extents(shape.size(), 1), 0};
  for (size_t d = shape.size(); d-- > 1;) view.strides[d - 1] = view.strides[d] * shape[d];
  return view;
}

bool is_view_op(Op op) {
  switch (op) {
    case Op::Reshape:
    case Op::Permute:
    case Op::Expand:
    case Op::Slice:
    case Op::Flip:
    case Op::Window:
      return true;
    default:
      return false;
  }
}

namespace {

View expanded(const View& in, const Extents& shape) {
  View out{shape, Extents(shape.size(), 0), in.offset};
  const size_t added = shape.size() - in.shape.size();
  for (size_t d = 0; d < in.shape.size(); ++d) {
    out.strides[d + added] = in.shape[d] == shape[d + added] ? in.strides[d] : 0;
  }
  return out;
}

View sliced(const Node& op, const View& in, const Extents& shape) {
  View out{shape, in.strides, in.offset};
  for (size_t d = 0; d < shape.size(); ++d) {
    out.offset += op.attrs.starts[d].value() * in.strides[d];
    out.strides[d] = in.strides[d] * op.attrs.steps[d];
  }
  return out;
}

View flipped(const Node& op, const View& in) {
  View out = in;
  for (const int dim : op.attrs.dims) {
    const auto d = static_cast<size_t>(dim);
    if (in.shape[d] > 0) out.offset += (in.shape[d] - 1) * in.strides[d];
    out.strides[d] = -in.strides[d];
  }
  return out;
}

View windowed(const Node& op, const View& in, const Extents& shape) {
  View out{shape, in.strides, in.offset};
  const auto d = static_cast<size_t>(op.attrs.dims[0]);
  out.strides.push_back(in.strides[d] * op.attrs.steps[1]);
  out.strides[d] = in.strides[d] * op.attrs.steps[0];
  return out;
}

// Walks both shapes from the inside: every run of old dims that are evenly spaced as one must be
// filled by whole new dims.
std::optional<View> reshaped(const View& in, const Extents& shape) {
  if (count_of(shape) == 0) return dense_view(shape);
  const View old = coalesced(in);
  View out{shape, Extents(shape.size(), 1), in.offset};
  size_t d = shape.size();
  for (size_t o = old.shape.size(); o-- > 0;) {
    int64_t filled = 1;
    while (filled < old.shape[o]) {
      if (d == 0) return std::nullopt;
      --d;
      out.strides[d] = filled * old.strides[o];
      filled *= shape[d];
    }
    if (filled != old.shape[o]) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<View> see_through(const Node& op, const View& in) {
  const Extents shape = graph::values_of(op.shape);
  switch (op.op) {
    case Op::Reshape:
      return reshaped(in, shape);
    case Op::Permute:
      return permuted(in, op.attrs.dims);
    case Op::Expand:
      return expanded(in, shape);
    case Op::Slice:
      return sliced(op, in, shape);
    case Op::Flip:
      return flipped(op, in);
    case Op::Window:
      return windowed(op, in, shape);
    default:
      KW_CHECK(false, "only view ops are seen through");
  }
}

View permuted(const View& view, const std::vector<int>& order) {
  View out{{}, {}, view.offset};
  for (const int d : order) {
    out.shape.push_back(view.shape[static_cast<size_t>(d)]);
    out.strides.push_back(view.strides[static_cast<size_t>(d)]);
  }
  return out;
}

View coalesced(const View& view) {
  View out{{}, {}, view.offset};
  for (size_t d = 0; d < view.shape.size(); ++d) {
    const int64_t extent = view.shape[d], stride = view.strides[d];
    if (extent == 1) continue;
    if (!out.shape.empty() && out.strides.back() == stride * extent) {
      out.shape.back() *= extent;
      out.strides.back() = stride;
    } else {
      out.shape.push_back(extent);
      out.strides.push_back(stride);
    }
  }
  if (out.shape.empty()) return View{{1}, {0}, view.offset};
  return out;
}

}  // namespace kw::oracle
