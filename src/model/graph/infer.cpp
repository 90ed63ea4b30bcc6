// A graph comes from many builders and passes, and one wrong shape would corrupt every later stage.
// So the rules of each op are written once, here, as code. The builder uses them to fill in dtype
// and shape, and verify() uses them to check a finished graph. Some ops carry a shape that cannot
// be inferred, such as Reshape; then the given shape is checked. Rules as table entries would be
// shorter for pointwise ops, but movements need code anyway. Shapes are compared by value only; the
// builder adds guards for expressions. The cost: each new primitive needs a rule here.
#include "graph/infer.h"

#include <fmt/core.h>

#include <algorithm>

#include "graph/promote.h"
#include "tensor/host_tensor.h"

namespace kw::graph {

namespace {

bool is_packed(DType type) { return type == DType::Fp4e2m1x2; }
struct Scope {
  std::span<const Node> nodes;
  const Node& node;

  const Node& in(size_t i) const { return nodes[static_cast<size_t>(node.inputs[i])]; }
  int rank() const { return static_cast<int>(in(0).shape.size()); }
  /// `why` is in fmt's format.
  template <typename... Args>
  Error refuse(fmt::format_string<Args...> why, Args&&... args) const {
    return input_error("{}: {}", op_info(node.op).name,
                       fmt::format(why, std::forward<Args>(args)...));
  }
};

Status check_dims(const Scope& s, int rank) {
  std::vector<int> sorted = s.node.attrs.dims;
  std::ranges::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return s.refuse("a dim appears twice");
  }
  if (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= rank))
    return s.refuse("a dim is outside of rank {}", rank);
  return Done{};
}

Status check_one_dim(const Scope& s, int rank) {
  KW_TRY(check_dims(s, rank));
  if (s.node.attrs.dims.size() != 1) return s.refuse("needs exactly one dim");
  return Done{};
}

Status check_count(const Scope& s, size_t have, size_t want, const char* what) {
  if (have == want) return Done{};
  return s.refuse("{} {} for {} dims", have, what, want);
}

// Whether a Constant holds the value of its expression, as the builder writes it: rounded to fp32
// below fp64. Integers narrower than int64 are not checked.
bool holds_value(const Node& node, int64_t value) {
  const auto exact = static_cast<double>(value);
  if (node.dtype == DType::Fp64) return node.attrs.number == exact;
  if (tensor::is_float(node.dtype)) return node.attrs.number == static_cast<float>(exact);
  return node.dtype != DType::Int64 || node.attrs.integer == value;
}

Result<Signature> source(const Scope& s) {
  const Node& n = s.node;
  if (n.op == Op::Constant) {
    if (!n.shape.empty()) return s.refuse("must have rank 0");
    if (is_packed(n.dtype)) return s.refuse("cannot be of a packed type");
    if (n.attrs.starts.size() > 1) return s.refuse("follows from one expression at most");
    if (!n.attrs.starts.empty() && !holds_value(n, n.attrs.starts[0].value())) {
      return s.refuse("its number is not its expression's value");
    }
  }
  if (n.op == Op::Iota) {
    KW_TRY(check_one_dim(s, static_cast<int>(n.shape.size())));
    if (n.dtype == DType::Bool || is_packed(n.dtype)) return s.refuse("counts in numbers");
  }
  if (n.op == Op::Philox) {
    for (size_t i = 0; i < 2; ++i) {
      if (s.in(i).dtype != DType::Int64 || !s.in(i).shape.empty()) {
        return s.refuse("seed and offset are int64 of rank 0");
      }
    }
    return Signature{DType::Fp32, n.shape};
  }
  return Signature{n.dtype, n.shape};
}

Result<Signature> unary(const Scope& s) {
  const Op op = s.node.op;
  const DType type = s.in(0).dtype;
  const bool number = tensor::is_float(type) || is_integer(type);
  if (is_packed(type) || is_packed(s.node.dtype)) return s.refuse("cannot take a packed type");
  if (op == Op::Cast) return Signature{s.node.dtype, s.in(0).shape};
  if (between(op, Op::Neg, Op::Sign) && !number) return s.refuse("needs numbers");
  if (between(op, Op::Floor, Op::Sigmoid) && !tensor::is_float(type)) {
    return s.refuse("needs floats");
  }
  if (op == Op::Not && tensor::is_float(type)) return s.refuse("needs bool or integers");
  if (between(op, Op::IsNan, Op::IsInf)) {
    if (!tensor::is_float(type)) return s.refuse("needs floats");
    return Signature{DType::Bool, s.in(0).shape};
  }
  return Signature{type, s.in(0).shape};
}

Status check_same(const Scope& s, size_t a, size_t b) {
  if (s.in(a).shape == s.in(b).shape) return Done{};
  return s.refuse("shapes {} and {} differ", shape_text(s.in(a).shape), shape_text(s.in(b).shape));
}

Status check_same_dtype(const Scope& s, size_t a, size_t b) {
  if (s.in(a).dtype == s.in(b).dtype) return Done{};
  return s.refuse("dtypes {} and {} differ", dtype_name(s.in(a).dtype), dtype_name(s.in(b).dtype));
}

Result<Signature> binary(const Scope& s) {
  const Op op = s.node.op;
  const DType type = s.in(0).dtype;
  KW_TRY(check_same(s, 0, 1));
  KW_TRY(check_same_dtype(s, 0, 1));
  if (is_packed(type)) return s.refuse("cannot take a packed type");
  const bool floats_only =
      op == Op::Div || op == Op::Atan2 || op == Op::Copysign || op == Op::Hypot;
  if (floats_only && !tensor::is_float(type)) return s.refuse("needs floats");
  if (between(op, Op::Add, Op::FloorDiv) && type == DType::Bool) return s.refuse("needs numbers");
  if (between(op, Op::And, Op::Xor) && tensor::is_float(type)) {
    return s.refuse("needs bool or integers");
  }
  if (between(op, Op::ShiftLeft, Op::ShiftRight) && !is_integer(type)) {
    return s.refuse("needs integers");
  }
  return Signature{between(op, Op::Eq, Op::Ge) ? DType::Bool : type, s.in(0).shape};
}

Result<Signature> where(const Scope& s) {
  if (s.in(0).dtype != DType::Bool) return s.refuse("the condition must be bool");
  KW_TRY(check_same(s, 0, 1));
  KW_TRY(check_same(s, 0, 2));
  KW_TRY(check_same_dtype(s, 1, 2));
  return Signature{s.in(1).dtype, s.in(1).shape};
}

Result<Signature> pointwise(const Scope& s) {
  if (s.node.op == Op::Where) return where(s);
  return op_info(s.node.op).inputs == 1 ? unary(s) : binary(s);
}

Result<Signature> reduction(const Scope& s) {
  const Op op = s.node.op;
  const bool index = op == Op::ArgMax || op == Op::ArgMin;
  KW_TRY(index ? check_one_dim(s, s.rank()) : check_dims(s, s.rank()));
  if (!index && s.node.attrs.dims.empty()) return s.refuse("needs a dim");
  if ((op == Op::Sum || op == Op::Prod) && s.in(0).dtype == DType::Bool) {
    return s.refuse("needs numbers");
  }
  if (is_packed(s.in(0).dtype)) return s.refuse("cannot take a packed type");
  Shape shape = s.in(0).shape;
  for (int dim : s.node.attrs.dims) {
    if (between(op, Op::Max, Op::ArgMin) && shape[static_cast<size_t>(dim)] == Dim(0)) {
      return s.refuse("cannot select from an empty dim");
    }
    shape[static_cast<size_t>(dim)] = 1;
  }
  return Signature{index ? DType::Int64 : s.in(0).dtype, std::move(shape)};
}

Result<Signature> scan(const Scope& s) {
  KW_TRY(check_one_dim(s, s.rank()));
  const DType type = s.in(0).dtype;
  const bool sums = s.node.op == Op::CumSum || s.node.op == Op::CumProd;
  if (is_packed(type)) return s.refuse("cannot take a packed type");
  if (sums && type == DType::Bool) return s.refuse("needs numbers");
  if (!sums && s.node.attrs.exclusive) return s.refuse("the largest of no elements has no value");
  if (s.node.op == Op::CumLogSumExp && !tensor::is_float(type)) return s.refuse("needs floats");
  const bool index = between(s.node.op, Op::CumMaxIndex, Op::CumMinIndex);
  return Signature{index ? DType::Int64 : type, s.in(0).shape};
}

Result<Signature> selection(const Scope& s) {
  KW_TRY(check_one_dim(s, s.rank()));
  if (is_packed(s.in(0).dtype)) return s.refuse("cannot take a packed type");
  Shape shape = s.in(0).shape;
  if (between(s.node.op, Op::TopKValues, Op::TopKIndices)) {
    KW_TRY(check_count(s, s.node.shape.size(), shape.size(), "extents"));
    const auto dim = static_cast<size_t>(s.node.attrs.dims[0]);
    if (s.node.shape[dim].value() > shape[dim].value()) {
      return s.refuse("k must not exceed the extent of the dim");
    }
    shape[dim] = s.node.shape[dim];
  }
  const bool index = s.node.op == Op::SortIndices || s.node.op == Op::TopKIndices;
  return Signature{index ? DType::Int64 : s.in(0).dtype, std::move(shape)};
}

Result<Signature> mat_mul(const Scope& s) {
  const Shape& a = s.in(0).shape;
  const Shape& b = s.in(1).shape;
  KW_TRY(check_same_dtype(s, 0, 1));
  if (s.in(0).dtype == DType::Bool || is_packed(s.in(0).dtype)) return s.refuse("needs numbers");
  if (a.size() < 2 || a.size() != b.size()) return s.refuse("needs two matrices of equal rank");
  const size_t rank = a.size();
  if (!std::equal(a.begin(), a.end() - 2, b.begin())) return s.refuse("batch extents differ");
  if (!(a[rank - 1] == b[rank - 2])) return s.refuse("{} by {}", shape_text(a), shape_text(b));
  Shape shape = a;
  shape[rank - 1] = b[rank - 1];
  return Signature{s.in(0).dtype, std::move(shape)};
}

Result<Signature> permute(const Scope& s) {
  KW_TRY(check_dims(s, s.rank()));
  KW_TRY(check_count(s, s.node.attrs.dims.size(), s.in(0).shape.size(), "places"));
  Shape shape;
  for (int dim : s.node.attrs.dims) shape.push_back(s.in(0).shape[static_cast<size_t>(dim)]);
  return Signature{s.in(0).dtype, std::move(shape)};
}

Result<Signature> expand(const Scope& s) {
  const Shape& from = s.in(0).shape;
  const Shape& to = s.node.shape;
  if (from.size() > to.size()) return s.refuse("cannot lose dims");
  for (size_t i = 0; i < from.size(); ++i) {
    const Dim& target = to[to.size() - from.size() + i];
    if (!(from[i] == target) && !(from[i] == Dim(1)))
      return s.refuse("{} to {}", shape_text(from), shape_text(to));
  }
  return Signature{s.in(0).dtype, to};
}

Result<Signature> slice(const Scope& s) {
  const Attrs& attrs = s.node.attrs;
  const Shape& from = s.in(0).shape;
  KW_TRY(check_count(s, s.node.shape.size(), from.size(), "extents"));
  KW_TRY(check_count(s, attrs.starts.size(), from.size(), "starts"));
  KW_TRY(check_count(s, attrs.steps.size(), from.size(), "steps"));
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t count = s.node.shape[i].value();
    const int64_t start = attrs.starts[i].value();
    const int64_t step = attrs.steps[i];
    if (step <= 0) return s.refuse("steps must be positive");
    const bool inside = start >= 0 && start <= from[i].value() && count >= 0 &&
                        (count == 0 || (from[i].value() - 1 - start) / step >= count - 1);
    if (!inside || (count > 0 && start >= from[i].value()))
      return s.refuse("dim {} reaches outside of its {} elements", i, from[i].value());
  }
  return Signature{s.in(0).dtype, s.node.shape};
}

Result<Signature> pad(const Scope& s) {
  const Shape& from = s.in(0).shape;
  const Shape& to = s.node.shape;
  KW_TRY(check_count(s, to.size(), from.size(), "extents"));
  KW_TRY(check_count(s, s.node.attrs.starts.size(), from.size(), "starts"));
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t front = s.node.attrs.starts[i].value();
    if (front < 0 || to[i].value() - from[i].value() < front)
      return s.refuse("dim {} would be cut", i);
  }
  return Signature{s.in(0).dtype, to};
}

// Window and Fold share one rule: every element of every window lies inside.
Status check_windows(const Scope& s, const Shape& whole, const Shape& windows) {
  const Attrs& attrs = s.node.attrs;
  KW_TRY(check_one_dim(s, static_cast<int>(whole.size())));
  KW_TRY(check_count(s, attrs.steps.size(), 2, "steps"));
  KW_TRY(check_count(s, windows.size(), whole.size() + 1, "extents"));
  const auto dim = static_cast<size_t>(attrs.dims[0]);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (i != dim && !(whole[i] == windows[i])) return s.refuse("extents differ in dim {}", i);
  }
  const int64_t count = windows[dim].value(), size = windows.back().value();
  const int64_t stride = attrs.steps[0], dilation = attrs.steps[1];
  if (stride <= 0 || dilation <= 0) return s.refuse("steps must be positive");
  if (count < 0 || size < 0) return s.refuse("extents must not be negative");
  if (count == 0 || size == 0) return Done{};
  const int64_t last = whole[dim].value() - 1;
  const bool inside =
      count - 1 <= last / stride && size - 1 <= (last - (count - 1) * stride) / dilation;
  if (!inside || last < 0)
    return s.refuse("windows reach outside of the {} elements of dim {}", last + 1, dim);
  return Done{};
}

Result<Signature> window(const Scope& s) {
  KW_TRY(check_windows(s, s.in(0).shape, s.node.shape));
  return Signature{s.in(0).dtype, s.node.shape};
}

Result<Signature> fold(const Scope& s) {
  KW_TRY(check_windows(s, s.node.shape, s.in(0).shape));
  if (s.in(0).dtype == DType::Bool || is_packed(s.in(0).dtype)) return s.refuse("needs numbers");
  return Signature{s.in(0).dtype, s.node.shape};
}

Result<Signature> concat(const Scope& s) {
  if (s.node.inputs.empty()) return s.refuse("needs an input");
  KW_TRY(check_one_dim(s, s.rank()));
  const auto dim = static_cast<size_t>(s.node.attrs.dims[0]);
  Shape shape = s.in(0).shape;
  for (size_t i = 1; i < s.node.inputs.size(); ++i) {
    KW_TRY(check_same_dtype(s, 0, i));
    const Shape& other = s.in(i).shape;
    KW_TRY(check_count(s, other.size(), shape.size(), "extents"));
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d != dim && !(other[d] == shape[d])) return s.refuse("extents differ in dim {}", d);
    }
    shape[dim] = shape[dim] + other[dim];
  }
  return Signature{s.in(0).dtype, std::move(shape)};
}

Status check_index(const Scope& s) {
  KW_TRY(check_one_dim(s, s.rank()));
  if (s.in(1).dtype != DType::Int64) return s.refuse("the index must be int64");
  return Done{};
}

Result<Signature> gather(const Scope& s) {
  KW_TRY(check_index(s));
  const Shape& from = s.in(0).shape;
  const Shape& index = s.in(1).shape;
  const auto dim = static_cast<size_t>(s.node.attrs.dims[0]);
  if (s.node.op == Op::IndexSelect) {
    if (index.size() != 1) return s.refuse("the index must have rank 1");
    Shape shape = from;
    shape[dim] = index[0];
    return Signature{s.in(0).dtype, std::move(shape)};
  }
  KW_TRY(check_count(s, index.size(), from.size(), "extents of the index"));
  for (size_t i = 0; i < from.size(); ++i) {
    if (i != dim && !(index[i] == from[i])) return s.refuse("the index differs in dim {}", i);
  }
  return Signature{s.in(0).dtype, index};
}

Result<Signature> scatter(const Scope& s) {
  KW_TRY(check_index(s));
  KW_TRY(check_same(s, 1, 2));
  KW_TRY(check_same_dtype(s, 0, 2));
  const Shape& base = s.in(0).shape;
  const Shape& index = s.in(1).shape;
  KW_TRY(check_count(s, index.size(), base.size(), "extents of the index"));
  for (size_t i = 0; i < base.size(); ++i) {
    if (static_cast<int>(i) != s.node.attrs.dims[0] && index[i].value() > base[i].value())
      return s.refuse("the index is larger than the base in dim {}", i);
  }
  if (s.node.attrs.scatter != ScatterMode::Set &&
      (s.in(0).dtype == DType::Bool || is_packed(s.in(0).dtype))) {
    return s.refuse("needs numbers");
  }
  return Signature{s.in(0).dtype, base};
}

Result<Signature> movement(const Scope& s) {
  switch (s.node.op) {
    case Op::Reshape:
      if (count_of(s.node.shape) == count_of(s.in(0).shape)) {
        return Signature{s.in(0).dtype, s.node.shape};
      }
      return s.refuse("{} to {}", shape_text(s.in(0).shape), shape_text(s.node.shape));
    case Op::Permute:
      return permute(s);
    case Op::Expand:
      return expand(s);
    case Op::Slice:
      return slice(s);
    case Op::Pad:
      return pad(s);
    case Op::Flip:
      KW_TRY(check_dims(s, s.rank()));
      return Signature{s.in(0).dtype, s.in(0).shape};
    case Op::Window:
      return window(s);
    case Op::Fold:
      return fold(s);
    case Op::Concat:
      return concat(s);
    case Op::Scatter:
      return scatter(s);
    default:
      return gather(s);
  }
}

Result<Signature> by_kind(const Scope& s) {
  switch (op_info(s.node.op).kind) {
    case OpKind::Source:
      return source(s);
    case OpKind::Pointwise:
      return pointwise(s);
    case OpKind::Reduction:
      return reduction(s);
    case OpKind::Scan:
      return scan(s);
    case OpKind::Selection:
      return selection(s);
    case OpKind::Contraction:
      return mat_mul(s);
    default:
      return movement(s);
  }
}

}  // namespace

Result<Signature> infer(std::span<const Node> nodes, const Node& node) {
  const Scope scope{nodes, node};
  if (static_cast<int>(node.op) >= kOps) return input_error("an op that does not exist");
  const int want = op_info(node.op).inputs;
  if (want >= 0 && static_cast<int>(node.inputs.size()) != want)
    return scope.refuse("has {} inputs, needs {}", node.inputs.size(), want);
  for (NodeId id : node.inputs) {
    if (id < 0 || static_cast<size_t>(id) >= nodes.size())
      return scope.refuse("input %{} does not exist before it", id);
  }
  Signature result = KW_TRY(by_kind(scope));
  const auto count = tensor::element_count(values_of(result.shape));
  if (!count) return scope.refuse("{}", count.error().message);
  return result;
}

std::string signature_text(DType dtype, const Shape& shape) {
  return tensor::dtype_name(dtype) + shape_text(shape);
}

}  // namespace kw::graph
