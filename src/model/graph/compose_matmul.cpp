// PyTorch's products with a bias or a second term accumulate in fp32 for half types and round once.
// If the product were rounded before the addition, the truth would contain one rounding too many.
// So both operands are converted to opmath first, and the result is converted back after the
// addition. An attribute "accumulate in fp32" on MatMul would avoid the conversions, but each user
// of graphs would need it. A plain product has no conversions: MatMul itself rounds once. The cost:
// two casts that code generators must recognise.
#include "graph/compose_matmul.h"

#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

Status need_rank(const Builder& b, NodeId x, int rank, const char* what) {
  if (b.rank(x) == rank) return Done{};
  return input_error("{}, got {}-D tensor", what, b.rank(x));
}

Status need_same_dtype(const Builder& b, NodeId x, NodeId y) {
  if (b.dtype(x) == b.dtype(y)) return Done{};
  return input_error("mat1 and mat2 must have the same dtype, but got {} and {}",
                     torch_name(b.dtype(x)), torch_name(b.dtype(y)));
}

// The product in its accumulation type, so that a term can be added before rounding.
Result<NodeId> wide_product(Builder& b, NodeId x, NodeId y) {
  KW_TRY(need_same_dtype(b, x, y));
  if (is_storage_only(b.dtype(x))) return b.matmul(x, y);  // gives the Error
  const DType type = opmath(b.dtype(x));
  const NodeId left = b.cast(x, type);
  return b.matmul(left, b.cast(y, type));
}

bool is_number(const Operand& operand, double value) { return operand.is(value); }

// beta * input + alpha * product, converted to the input's dtype.
Result<NodeId> combine(Builder& b, NodeId input, NodeId product, const Scales& scales) {
  const DType type = b.dtype(input);
  for (const Operand* scale : {&scales.beta, &scales.alpha}) {
    if (!tensor::is_float(type) && scale->kind == Operand::Kind::Float) {
      return input_error(
          "For integral input tensors, argument beta and alpha must not be floating point "
          "numbers.");
    }
  }
  Formula f(b);
  Term y = f(product);
  if (!is_number(scales.alpha, 1)) y = y * scales.alpha;
  const NodeId full = KW_TRY(b.expand(input, b[product].shape));
  if (!is_number(scales.beta, 0)) {
    const Term base = cast(f(full), opmath(type));
    y = y + (is_number(scales.beta, 1) ? base : base * scales.beta);
  }
  return f.done(y, type);
}

}  // namespace

Result<NodeId> mm(Builder& b, NodeId x, NodeId y) {
  KW_TRY(need_rank(b, x, 2, "self must be a matrix"));
  KW_TRY(need_rank(b, y, 2, "mat2 must be a matrix"));
  return b.matmul(x, y);
}

namespace {

Status check_batches(Builder& b, NodeId x, NodeId y) {
  KW_TRY(need_rank(b, x, 3, "batch1 must be a 3D tensor"));
  KW_TRY(need_rank(b, y, 3, "batch2 must be a 3D tensor"));
  const Shape& left = b[x].shape;
  const Shape& right = b[y].shape;
  if (left[0] == right[0] && left[2] == right[1]) return Done{};
  return input_error(
      "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
      left[0].value(), left[2].value(), right[0].value(), right[1].value());
}

}  // namespace

Result<NodeId> bmm(Builder& b, NodeId x, NodeId y) {
  KW_TRY(check_batches(b, x, y));
  return b.matmul(x, y);
}

Result<NodeId> mv(Builder& b, NodeId x, NodeId y) {
  KW_TRY(need_rank(b, x, 2, "input must be a matrix"));
  KW_TRY(need_rank(b, y, 1, "vec must be a vector"));
  return b.matmul(x, y);
}

Result<NodeId> dot(Builder& b, NodeId x, NodeId y) {
  KW_TRY(need_rank(b, x, 1, "1D tensors expected"));
  KW_TRY(need_rank(b, y, 1, "1D tensors expected"));
  return b.matmul(x, y);
}

Result<NodeId> outer(Builder& b, NodeId x, NodeId y) {
  KW_TRY(need_rank(b, x, 1, "outer: Expected 1-D argument self"));
  KW_TRY(need_rank(b, y, 1, "outer: Expected 1-D argument vec2"));
  const NodeId column = KW_TRY(unsqueeze(b, x, 1));
  return b.binary(Op::Mul, Operand::tensor(column), Operand::tensor(y));
}

Result<NodeId> linear(Builder& b, NodeId x, NodeId weight, std::optional<NodeId> bias) {
  KW_TRY(need_same_dtype(b, x, weight));
  if (b.rank(weight) > 2 || b.rank(weight) == 0) {
    return input_error("linear(): weight must be a matrix or a vector, got {}-D tensor",
                       b.rank(weight));
  }
  const NodeId turned = b.rank(weight) == 2 ? KW_TRY(transpose(b, weight, 0, 1)) : weight;
  if (!bias) return b.matmul(x, turned);
  KW_TRY(need_same_dtype(b, x, *bias));
  const NodeId product = KW_TRY(wide_product(b, x, turned));
  Formula f(b);
  return f.done(f(product) + cast(f(*bias), opmath(b.dtype(x))), b.dtype(x));
}

// [.., I] x [O, I, J] x [.., J] -> [.., O]: first x times the weight, then the sum over J.
Result<NodeId> bilinear(Builder& b, NodeId x, NodeId y, NodeId weight, std::optional<NodeId> bias) {
  KW_TRY(need_rank(b, weight, 3, "bilinear(): weight must be 3-D"));
  KW_TRY(need_same_dtype(b, x, weight));
  KW_TRY(need_same_dtype(b, y, weight));
  const Shape w = b[weight].shape;
  const NodeId by_input = KW_TRY(b.permute(weight, {1, 0, 2}));
  const NodeId flat = KW_TRY(b.reshape(by_input, {w[1], w[0] * w[2]}));
  const NodeId left = KW_TRY(wide_product(b, x, flat));
  Shape shape(b[x].shape.begin(), b[x].shape.end() - 1);
  shape.insert(shape.end(), {w[0], w[2]});
  const NodeId split_left = KW_TRY(b.reshape(left, shape));
  const NodeId right = KW_TRY(unsqueeze(b, b.cast(y, b.dtype(left)), -2));
  Formula f(b);
  const NodeId products = KW_TRY(f.done(f(split_left) * f(right)));
  const NodeId total = KW_TRY(b.reduce(Op::Sum, products, {-1}, false));
  if (!bias) return b.cast(total, b.dtype(x));
  return f.done(f(total) + cast(f(*bias), b.dtype(total)), b.dtype(x));
}

Result<NodeId> addmm(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales) {
  KW_TRY(need_rank(b, x, 2, "mat1 must be a matrix"));
  KW_TRY(need_rank(b, y, 2, "mat2 must be a matrix"));
  const NodeId product = KW_TRY(wide_product(b, x, y));
  return combine(b, input, product, scales);
}

Result<NodeId> addmv(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales) {
  KW_TRY(need_rank(b, x, 2, "mat must be a matrix"));
  KW_TRY(need_rank(b, y, 1, "vec must be a vector"));
  const NodeId product = KW_TRY(wide_product(b, x, y));
  return combine(b, input, product, scales);
}

Result<NodeId> baddbmm(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales) {
  KW_TRY(check_batches(b, x, y));
  const NodeId product = KW_TRY(wide_product(b, x, y));
  return combine(b, input, product, scales);
}

Result<NodeId> addbmm(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales) {
  KW_TRY(check_batches(b, x, y));
  const NodeId product = KW_TRY(wide_product(b, x, y));
  const NodeId total = KW_TRY(b.reduce(Op::Sum, product, {0}, false));
  return combine(b, input, total, scales);
}

Result<NodeId> addr(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales) {
  KW_TRY(need_rank(b, x, 1, "addr: Expected 1-D argument vec1"));
  KW_TRY(need_rank(b, y, 1, "addr: Expected 1-D argument vec2"));
  KW_TRY(need_same_dtype(b, x, y));
  const DType type = opmath(b.dtype(x));
  const NodeId left = b.cast(x, type);
  const NodeId product = KW_TRY(outer(b, left, b.cast(y, type)));
  return combine(b, input, product, scales);
}

}  // namespace kw::graph
