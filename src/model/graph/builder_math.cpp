// Kernels are compared with PyTorch, so each operation must have exactly PyTorch's dtype and
// rounding. This source holds those rules: promotion, the dtype an op computes in, refusals, and
// matmul of vectors and batches. The rules are written once for each primitive, and compositions
// inherit them. The alternative, asking a PyTorch process at trace time, would make every trace
// depend on an installation. Error messages repeat PyTorch's wording, so that users recognise them.
// The cost: a change of PyTorch's rules must be followed here by hand.
#include <algorithm>

#include "core/contains.h"
#include "graph/builder.h"

namespace kw::graph {

namespace {

Error not_implemented(Op op, DType type) {
  return input_error("\"{}\" not implemented for '{}'", op_info(op).name, torch_name(type));
}

// These kernels take a Python number in the tensor's own dtype; the others take it in opmath.
bool stores_numbers(Op op) {
  return between(op, Op::Fmod, Op::Remainder) || between(op, Op::Copysign, Op::Ge);
}

// The dtype PyTorch computes this op in when the operands promote to `type`. An Error when PyTorch
// refuses.
Result<DType> binary_type(Op op, DType type) {
  if (is_storage_only(type)) return not_implemented(op, type);
  const bool is_bool = type == DType::Bool;
  if (op == Op::Div || op == Op::Atan2 || op == Op::Copysign) return float_type(type);
  if (op == Op::Hypot && !tensor::is_float(type)) return not_implemented(op, type);
  if (between(op, Op::Pow, Op::FloorDiv) && is_bool) return not_implemented(op, type);
  if (between(op, Op::And, Op::Xor) && tensor::is_float(type)) return not_implemented(op, type);
  if (between(op, Op::ShiftLeft, Op::ShiftRight) && !is_integer(type)) {
    return not_implemented(op, type);
  }
  return type;
}

// Arithmetic on bool becomes logic.
Op on_bool(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Maximum:
    case Op::Fmax:
      return Op::Or;
    case Op::Mul:
    case Op::Minimum:
    case Op::Fmin:
      return Op::And;
    default:
      return op;
  }
}

bool is_bool_operand(const Builder& b, const Operand& operand) {
  return operand.is_tensor() ? b.dtype(operand.node) == DType::Bool
                             : operand.kind == Operand::Kind::Bool;
}

Status check_sub(const Builder& b, const Operand& x, const Operand& y) {
  const bool first = is_bool_operand(b, x), second = is_bool_operand(b, y);
  if (!first && !second) return Done{};
  return input_error(
      "Subtraction, the `-` operator, with {} is not supported. {}",
      first && second ? "two bool tensors" : "a bool tensor",
      first && second
          ? "Use the `^` or `logical_xor()` operator instead."
          : "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
}

}  // namespace

Result<DType> Builder::result_type(std::span<const Operand> operands) const {
  Categories categories;
  for (const Operand& operand : operands) {
    DType type = DType::Int64;
    auto* slot = &categories.number;
    if (operand.is_tensor()) {
      type = dtype(operand.node);
      slot = rank(operand.node) > 0 ? &categories.dimensioned : &categories.rank_0;
    } else if (operand.kind != Operand::Kind::Int) {
      type = operand.kind == Operand::Kind::Bool ? DType::Bool : DType::Fp32;
    }
    const auto both = *slot ? try_promote(**slot, type) : type;
    if (!both) {
      return input_error("Promotion is not supported, attempted to promote {} and {}",
                         torch_name(**slot), torch_name(type));
    }
    *slot = both;
  }
  const auto type = combine(categories);
  if (!type) return input_error("Promotion of these types is not supported");
  return *type;
}

Result<NodeId> Builder::as_tensor(const Operand& operand, DType type) {
  switch (operand.kind) {
    case Operand::Kind::Tensor:
      return cast(operand.node, type);
    case Operand::Kind::Float:
      return constant(type, Number(operand.number, operand.text));
    case Operand::Kind::Int:
      if (!operand.text.empty()) return constant(type, Number(operand.number, operand.text));
      return constant_dim(type, operand.dim);
    default:
      return constant_int(type, operand.integer);
  }
}

NodeId Builder::cast(NodeId x, DType to) {
  if (dtype(x) == to) return x;
  return push({Op::Cast, {x}, to, graph_[x].shape, {}, "", 0, 0});
}

Result<NodeId> Builder::pointwise(Op op, std::vector<NodeId> inputs) {
  const Shape shape = KW_TRY(broadcast(inputs));
  for (NodeId& input : inputs) input = KW_TRY(expand(input, shape));
  return add({op, std::move(inputs), DType::Fp32, {}, {}, "", 0, 0});
}

Result<NodeId> Builder::unary(Op op, NodeId x) {
  const DType type = dtype(x);
  const bool is_bool = type == DType::Bool;
  if (is_storage_only(type)) return not_implemented(op, type);
  if (op == Op::Neg && is_bool) {
    return input_error(
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.");
  }
  if (op == Op::Abs && is_bool) return not_implemented(op, type);
  if (op == Op::Sign && is_bool) return x;
  if (between(op, Op::Floor, Op::Round) && !tensor::is_float(type)) {
    if (is_bool) return not_implemented(op, type);
    return x;
  }
  if (between(op, Op::Sqrt, Op::Sigmoid)) x = cast(x, float_type(type));
  if (op == Op::Not && tensor::is_float(type)) return not_implemented(op, type);
  if (between(op, Op::IsNan, Op::IsInf) && !tensor::is_float(type)) {
    return expand(constant_int(DType::Bool, 0), graph_[x].shape);
  }
  return pointwise(op, {x});
}

Result<NodeId> Builder::binary(Op op, Operand a, Operand b) {
  if (op == Op::Sub) KW_TRY(check_sub(*this, a, b));
  const std::vector<Operand> both = {a, b};
  const DType common = KW_TRY(result_type(both));
  const DType type = KW_TRY(binary_type(op, common));
  if (op == Op::Pow && is_integer(type) && !b.is_tensor() && b.integer < 0) {
    return input_error("Integers to negative integer powers are not allowed.");
  }
  std::vector<NodeId> inputs;
  for (Operand operand : both) {
    if (operand.kind == Operand::Kind::Float && tensor::is_float(type) && stores_numbers(op)) {
      operand = Operand::of(round_to(type, Number(operand.number, operand.text)));
    }
    inputs.push_back(KW_TRY(as_tensor(operand, type)));
  }
  return pointwise(type == DType::Bool ? on_bool(op) : op, std::move(inputs));
}

Result<NodeId> Builder::where(NodeId condition, Operand a, Operand b) {
  const DType type = dtype(condition);
  if (type != DType::Bool && type != DType::Uint8) {
    return input_error(
        "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        torch_name(type));
  }
  const std::vector<Operand> both = {a, b};
  const DType common = KW_TRY(result_type(both));
  std::vector<NodeId> inputs = {cast(condition, DType::Bool)};
  for (Operand operand : both) {
    if (operand.kind == Operand::Kind::Float && tensor::is_float(common)) {
      operand = Operand::of(round_to(common, Number(operand.number, operand.text)));
    }
    inputs.push_back(KW_TRY(as_tensor(operand, common)));
  }
  return pointwise(Op::Where, std::move(inputs));
}

Result<NodeId> Builder::drop_dims(NodeId x, const std::vector<int>& dims) {
  Shape shape;
  for (int i = 0; i < rank(x); ++i) {
    if (!contains(dims, i)) shape.push_back(extent(x, i));
  }
  return reshape(x, std::move(shape));
}

Result<NodeId> Builder::reduce(Op op, NodeId x, std::vector<int> dims, bool keepdim) {
  if (is_storage_only(dtype(x))) return not_implemented(op, dtype(x));
  if ((op == Op::Sum || op == Op::Prod) && !tensor::is_float(dtype(x))) x = cast(x, DType::Int64);
  dims = KW_TRY(wrap_dims(dims, x));
  const bool index = op == Op::ArgMax || op == Op::ArgMin;
  if (dims.empty()) {
    if (index) return constant_int(DType::Int64, 0);
    return x;
  }
  if (index && dims.size() != 1)
    return input_error("argmax over several dims needs them flattened");
  for (int dim : dims) {
    if (between(op, Op::Max, Op::ArgMin) && extent(x, dim) == Dim(0)) {
      return input_error("{}(): Expected reduction dim {} to have non-zero size.", op_info(op).name,
                         dim);
    }
  }
  Node node{op, {x}, dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = dims;
  const NodeId result = KW_TRY(add(std::move(node)));
  if (keepdim) return result;
  return drop_dims(result, dims);
}

Result<NodeId> Builder::scan(Op op, NodeId x, int dim, bool reverse, bool exclusive) {
  if (is_storage_only(dtype(x))) return not_implemented(op, dtype(x));
  const bool sums = op == Op::CumSum || op == Op::CumProd;
  if (sums && !tensor::is_float(dtype(x))) x = cast(x, DType::Int64);
  const int at = KW_TRY(wrap_dim(dim, x));
  const Shape shape = graph_[x].shape;
  if (shape.empty()) x = KW_TRY(reshape(x, {1}));
  Node node{op, {x}, dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = {at};
  node.attrs.reverse = reverse;
  node.attrs.exclusive = exclusive;
  const NodeId result = KW_TRY(add(std::move(node)));
  return reshape(result, shape);
}

Result<NodeId> Builder::dot(NodeId a, NodeId b) {
  const Dim n = extent(a, 0), m = extent(b, 0);
  if (!(n == m)) {
    return input_error(
        "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of "
        "elements, but got {0} and {1} elements respectively",
        n.value(), m.value());
  }
  const NodeId row = KW_TRY(reshape(a, {1, n}));
  const NodeId column = KW_TRY(reshape(b, {m, 1}));
  const NodeId product = KW_TRY(matrices(row, column));
  return reshape(product, {});
}

// Both have at least rank 2. A batch times one matrix is folded into one tall product, as in
// PyTorch.
Result<NodeId> Builder::matrices(NodeId a, NodeId b) {
  const Shape left = graph_[a].shape, right = graph_[b].shape;
  const Dim rows = left[left.size() - 2], inner = left.back(), columns = right.back();
  if (!(inner == right[right.size() - 2])) {
    return input_error("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", rows.value(),
                       inner.value(), right[right.size() - 2].value(), columns.value());
  }
  guard_equal(inner, right[right.size() - 2]);
  Shape batch(left.begin(), left.end() - 2);
  if (right.size() == 2) {
    const NodeId tall = KW_TRY(reshape(a, {count_of(batch) * rows, inner}));
    const NodeId product = KW_TRY(add({Op::MatMul, {tall, b}, dtype(a), {}, {}, "", 0, 0}));
    Shape shape(left.begin(), left.end() - 1);
    shape.push_back(columns);
    return reshape(product, std::move(shape));
  }
  const std::vector<Shape> batches = {batch, Shape(right.begin(), right.end() - 2)};
  const Shape common = KW_TRY(broadcast_shapes(batches));
  Shape left_shape = common, right_shape = common;
  left_shape.insert(left_shape.end(), {rows, inner});
  right_shape.insert(right_shape.end(), {right[right.size() - 2], columns});
  const NodeId x = KW_TRY(expand(a, std::move(left_shape)));
  const NodeId y = KW_TRY(expand(b, std::move(right_shape)));
  return add({Op::MatMul, {x, y}, dtype(a), {}, {}, "", 0, 0});
}

Result<NodeId> Builder::matmul(NodeId a, NodeId b) {
  if (rank(a) == 0 || rank(b) == 0) {
    return input_error("both arguments to matmul need to be at least 1D, but they are {}D and {}D",
                       rank(a), rank(b));
  }
  if (dtype(a) != dtype(b)) {
    return input_error("expected m1 and m2 to have the same dtype, but got: {} != {}",
                       torch_name(dtype(a)), torch_name(dtype(b)));
  }
  if (dtype(a) == DType::Bool || is_storage_only(dtype(a))) {
    return not_implemented(Op::MatMul, dtype(a));
  }
  if (rank(a) == 1 && rank(b) == 1) return dot(a, b);
  const bool row = rank(a) == 1, column = rank(b) == 1;
  if (row) a = KW_TRY(reshape(a, {1, extent(a, 0)}));
  if (column) b = KW_TRY(reshape(b, {extent(b, 0), 1}));
  const NodeId product = KW_TRY(matrices(a, b));
  if (!row && !column) return product;
  return drop_dims(product, {row ? rank(product) - 2 : rank(product) - 1});
}

}  // namespace kw::graph
