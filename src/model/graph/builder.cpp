// A trace runs with concrete extents, but generated code must serve other extents too. So each
// extent is a Dim: a value and an expression. Whenever a rule is decided by values alone, the
// builder records a guard, such as "B == D". Fully symbolic shapes would need no guards, but every
// rule would have to decide inequalities between polynomials. Reshapes, expansions and slices that
// change nothing add no node, so graphs stay small. The cost: a module generated from a trace is
// valid only for dims that satisfy its guards.
#include "graph/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/contains.h"
#include "graph/infer.h"

namespace kw::graph {

namespace {

int64_t to_integer(double value) {
  constexpr double kEnd = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return std::numeric_limits<int64_t>::max();
  return value < -kEnd ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

// PyTorch keeps the low bits of a number that is too large for the dtype of the tensor.
int64_t wrap_integer(DType type, int64_t value) {
  if (type == DType::Bool) return value != 0 ? 1 : 0;
  const int bits = tensor::dtype_size(type) * 8;
  if (bits == 64) return value;
  const auto low = static_cast<uint64_t>(value) << (64 - bits);
  if (tensor::is_unsigned_int(type)) return static_cast<int64_t>(low >> (64 - bits));
  return static_cast<int64_t>(low) >> (64 - bits);
}

bool same_texts(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Dim& x, const Dim& y) { return x.same_text(y); });
}

}  // namespace

void Builder::at(std::string origin, int line, int column) {
  origin_ = std::move(origin);
  line_ = line;
  column_ = column;
}

void Builder::at(std::string origin) { origin_ = std::move(origin); }

NodeId Builder::push(Node node) {
  node.origin = origin_;
  node.line = line_;
  node.column = column_;
  graph_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes.size() - 1);
}

Result<NodeId> Builder::add(Node node) {
  Signature signature = KW_TRY(infer(graph_.nodes, node));
  node.dtype = signature.dtype;
  node.shape = std::move(signature.shape);
  return push(std::move(node));
}

NodeId Builder::input(const std::string& name, DType dtype, Shape shape) {
  Node node{Op::Input, {}, dtype, std::move(shape), {}, "", 0, 0};
  node.attrs.integer = static_cast<int64_t>(graph_.inputs.size());
  const NodeId id = push(std::move(node));
  graph_.inputs.push_back({name, id});
  return id;
}

NodeId Builder::constant(DType dtype, double value) {
  if (!tensor::is_float(dtype)) {
    return constant_int(dtype, dtype == DType::Bool ? (value != 0 ? 1 : 0) : to_integer(value));
  }
  Node node{Op::Constant, {}, dtype, {}, {}, "", 0, 0};
  node.attrs.number = round_to(opmath(dtype), value);
  return push(std::move(node));
}

NodeId Builder::constant(DType dtype, const Number& value) {
  const NodeId id = constant(dtype, value.value);
  if (value.text.empty()) return id;
  const bool is_float = tensor::is_float(dtype);
  graph_.nodes.back().attrs.number_text = is_float               ? value.text
                                          : dtype == DType::Bool ? "ceil(abs(" + value.text + "))"
                                                                 : "trunc(" + value.text + ")";
  return id;
}

NodeId Builder::constant_int(DType dtype, int64_t value) {
  if (tensor::is_float(dtype)) return constant(dtype, static_cast<double>(value));
  Node node{Op::Constant, {}, dtype, {}, {}, "", 0, 0};
  node.attrs.integer = wrap_integer(dtype, value);
  return push(std::move(node));
}

NodeId Builder::constant_dim(DType dtype, const Dim& value) {
  const NodeId id = constant_int(dtype, value.value());
  if (!value.is_constant()) graph_.nodes.back().attrs.starts = {value};
  return id;
}

NodeId Builder::iota(Shape shape, int dim, DType dtype) {
  Node node{Op::Iota, {}, dtype, std::move(shape), {}, "", 0, 0};
  node.attrs.dims = {dim};
  return push(std::move(node));
}

const Dim& Builder::extent(NodeId id, int dim) const {
  return graph_[id].shape[static_cast<size_t>(dim)];
}

Result<int> Builder::wrap_dim(int64_t dim, NodeId x) const {
  const int64_t range = std::max(rank(x), 1);
  if (dim < -range || dim >= range) {
    return input_error("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                       -range, range - 1, dim);
  }
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

Result<std::vector<int>> Builder::wrap_dims(const std::vector<int>& dims, NodeId x) const {
  std::vector<int> wrapped;
  for (int dim : dims) wrapped.push_back(KW_TRY(wrap_dim(dim, x)));
  std::ranges::sort(wrapped);
  const auto twice = std::adjacent_find(wrapped.begin(), wrapped.end());
  if (twice != wrapped.end())
    return input_error("dim {} appears multiple times in the list of dims", *twice);
  if (dims.empty()) {
    wrapped.resize(static_cast<size_t>(rank(x)));
    std::iota(wrapped.begin(), wrapped.end(), 0);
  }
  if (rank(x) == 0) wrapped.clear();
  return wrapped;
}

void Builder::guard(std::string condition) {
  auto& guards = graph_.guards;
  if (!contains(guards, condition)) {
    guards.push_back(std::move(condition));
  }
}

void Builder::guard_equal(const Dim& a, const Dim& b) {
  KW_CHECK(a == b, "only equal extents are guarded as equal");
  if (std::string condition = equal_text(a, b); !condition.empty()) guard(std::move(condition));
}

void Builder::guard_at_most(const Dim& low, const Dim& high) {
  KW_CHECK(low.value() <= high.value(), "only what holds is guarded");
  if ((high - low).is_constant() || low.same_text(Dim(0))) return;
  guard(fmt::format("{} <= {}", low.text(), high.text()));
}

Result<Shape> Builder::broadcast(std::span<const NodeId> tensors) {
  std::vector<Shape> shapes;
  for (NodeId id : tensors) shapes.push_back(graph_[id].shape);
  return broadcast_shapes(shapes);
}

// A symbolic extent that happens to be 1 makes the trace depend on that value, so it is guarded. A
// literal 1 needs no guard.
Result<Shape> Builder::broadcast_shapes(std::span<const Shape> shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape result(rank, Dim(1));
  for (const Shape& shape : shapes) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t at = rank - shape.size() + i;
      Dim& have = result[at];
      const Dim& other = shape[i];
      if (other.same_text(have) || other.same_text(Dim(1))) continue;
      if (have.same_text(Dim(1))) {
        have = other;
      } else if (have == other) {
        guard_equal(have, other);
        if (other.is_constant()) have = other;
      } else if (other == Dim(1)) {
        guard_equal(other, Dim(1));
      } else if (have == Dim(1)) {
        guard_equal(have, Dim(1));
        have = other;
      } else {
        return input_error(
            "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton "
            "dimension {}",
            have.value(), other.value(), at);
      }
    }
  }
  return result;
}

Result<NodeId> Builder::reshape(NodeId x, Shape shape) {
  const Dim count = count_of(graph_[x].shape);
  const Error mismatch =
      input_error("shape '{}' is invalid for input of size {}", values_text(shape), count.value());
  Dim known(1);
  Dim* open = nullptr;
  for (Dim& dim : shape) {
    if (dim.value() < -1) return input_error("invalid shape dimension {}", dim.value());
    if (dim.value() != -1) {
      known = known * dim;
    } else if (open == nullptr) {
      open = &dim;
    } else {
      return input_error("only one dimension can be inferred");
    }
  }
  if (open != nullptr) {
    if (known == Dim(0)) {
      return input_error(
          "cannot reshape tensor of {} elements into shape {} because the unspecified dimension "
          "size -1 can be any value",
          count.value(), values_text(shape));
    }
    if (count.value() % known.value() != 0) return mismatch;
    *open = floor_div(count, known);
  }
  if (!(count_of(shape) == count)) return mismatch;
  guard_equal(count_of(shape), count);
  if (same_texts(shape, graph_[x].shape)) return x;
  return add({Op::Reshape, {x}, dtype(x), std::move(shape), {}, "", 0, 0});
}

Result<NodeId> Builder::permute(NodeId x, std::vector<int> dims) {
  if (static_cast<int>(dims.size()) != rank(x)) {
    return input_error(
        "permute(): number of dimensions in the tensor input does not match the length of the "
        "desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
        rank(x), dims.size());
  }
  for (int& dim : dims) dim = KW_TRY(wrap_dim(dim, x));
  if (std::ranges::is_sorted(dims, std::less_equal<>())) return x;
  std::vector<int> sorted = dims;
  std::ranges::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return input_error("permute(): duplicate dims are not allowed.");
  }
  Node node{Op::Permute, {x}, dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = std::move(dims);
  return add(std::move(node));
}

Result<NodeId> Builder::expand(NodeId x, Shape shape) {
  const Shape& from = graph_[x].shape;
  if (shape.size() < from.size()) {
    return input_error(
        "expand(): the number of sizes provided ({}) must be greater or equal to the number of "
        "dimensions in the tensor ({})",
        shape.size(), from.size());
  }
  const size_t ahead = shape.size() - from.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i >= ahead && shape[i].value() == -1) shape[i] = from[i - ahead];
    if (shape[i].value() < 0)
      return input_error("expand(): invalid size {} in {}", shape[i].value(), values_text(shape));
    if (i < ahead) continue;
    const Dim& have = from[i - ahead];
    if (have.same_text(Dim(1))) continue;
    if (have == shape[i]) {
      guard_equal(have, shape[i]);
    } else if (have == Dim(1)) {
      guard_equal(have, Dim(1));
    } else {
      return input_error(
          "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton "
          "dimension {}.  Target sizes: {}.  Tensor sizes: {}",
          shape[i].value(), have.value(), i, values_text(shape), values_text(from));
    }
  }
  if (same_texts(shape, from)) return x;
  return add({Op::Expand, {x}, dtype(x), std::move(shape), {}, "", 0, 0});
}

Result<NodeId> Builder::slice(NodeId x, int dim, const Dim& start, const Dim& stop, int64_t step) {
  const int at = KW_TRY(wrap_dim(dim, x));
  if (rank(x) == 0) return input_error("slice() cannot be applied to a 0-dim tensor.");
  if (start.same_text(Dim(0)) && stop.same_text(extent(x, at)) && step == 1) return x;
  Node node{Op::Slice, {x}, dtype(x), graph_[x].shape, {}, "", 0, 0};
  node.attrs.starts.assign(node.shape.size(), Dim(0));
  node.attrs.steps.assign(node.shape.size(), 1);
  node.attrs.starts[static_cast<size_t>(at)] = start;
  node.attrs.steps[static_cast<size_t>(at)] = step;
  if (step > 0) {
    node.shape[static_cast<size_t>(at)] = floor_div(stop - start + Dim(step - 1), Dim(step));
  }
  return add(std::move(node));
}

Graph Builder::finish(std::vector<NamedNode> outputs) && {
  graph_.outputs = std::move(outputs);
  return std::move(graph_);
}

}  // namespace kw::graph
