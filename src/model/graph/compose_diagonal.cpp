// Triangles and diagonals, as masks that compare row and column numbers.
#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

// Row and column numbers of a matrix, [rows, 1] and [1, columns].
Term row_numbers(Formula& f, const Dim& rows) {
  return f(f.builder().iota({rows, 1}, 0, DType::Int64));
}
Term column_numbers(Formula& f, const Dim& columns) {
  return f(f.builder().iota({1, columns}, 1, DType::Int64));
}

template <typename Keep>
Result<NodeId> triangle(Builder& b, NodeId x, const char* what, Keep keep) {
  if (b.rank(x) < 2) return input_error("{}: input tensor must have at least 2 dimensions", what);
  Formula f(b);
  const Dim rows = b.extent(x, b.rank(x) - 2), columns = b.extent(x, b.rank(x) - 1);
  const Term kept = keep(row_numbers(f, rows), column_numbers(f, columns));
  return f.done(where(kept, f(x), Operand::of_bool(false)));
}

struct MatrixDims {
  int first = 0, second = 0;
};
Result<MatrixDims> two_dims(Builder& b, NodeId x, int first, int second, const char* what) {
  MatrixDims dims;
  dims.first = KW_TRY(b.wrap_dim(first, x));
  dims.second = KW_TRY(b.wrap_dim(second, x));
  if (dims.first == dims.second)
    return input_error("{} dimensions cannot be identical {}, {}", what, first, second);
  return dims;
}

}  // namespace

Result<NodeId> triu(Builder& b, NodeId x, const Dim& diagonal) {
  return triangle(b, x, "triu",
                  [&](const Term& row, const Term& column) { return row + diagonal <= column; });
}

Result<NodeId> tril(Builder& b, NodeId x, const Dim& diagonal) {
  return triangle(b, x, "tril",
                  [&](const Term& row, const Term& column) { return row + diagonal >= column; });
}

Result<NodeId> diagonal(Builder& b, NodeId x, const Dim& offset, int first, int second) {
  const MatrixDims dims = KW_TRY(two_dims(b, x, first, second, "diagonal"));
  const NodeId matrix = KW_TRY(movedim(b, x, {dims.first, dims.second}, {-2, -1}));
  const int rows = b.rank(matrix) - 2, columns = rows + 1;
  const bool above = offset.value() >= 0;
  const Dim row = above ? Dim(0) : Dim(0) - offset;
  const Dim column = above ? offset : Dim(0);
  const Dim height = b.extent(matrix, rows) - row, width = b.extent(matrix, columns) - column;
  if (height.value() <= 0 || width.value() <= 0) {
    Shape shape(b[matrix].shape.begin(), b[matrix].shape.end() - 2);
    shape.push_back(0);
    const NodeId none = KW_TRY(b.slice(matrix, rows, 0, 0));
    return b.reshape(none, std::move(shape));
  }
  const Dim length = min(height, width);
  const NodeId band = KW_TRY(b.slice(matrix, rows, row, row + length));
  const NodeId square = KW_TRY(b.slice(band, columns, column, column + length));
  Shape shape = b[square].shape;
  shape.back() = 1;
  const NodeId places = b.iota(shape, rows, DType::Int64);
  Node node{Op::Gather, {square, places}, b.dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = {columns};
  const NodeId line = KW_TRY(b.add(std::move(node)));
  shape.pop_back();
  return b.reshape(line, std::move(shape));
}

Result<NodeId> diag_embed(Builder& b, NodeId x, const Dim& offset, int first, int second) {
  if (b.rank(x) == 0)
    return input_error("diag_embed(): input tensor must have at least 1 dimension");
  const bool above = offset.value() >= 0;
  const Dim shift = above ? offset : Dim(0) - offset;
  const NodeId padded = KW_TRY(pad(b, x, {0, shift}, PadMode::Constant, 0));
  const Dim size = b.extent(padded, b.rank(padded) - 1);
  // Above the diagonal an element keeps its row; below it an element keeps its column.
  const NodeId lined = KW_TRY(unsqueeze(b, padded, above ? -1 : -2));
  Formula f(b);
  const Term here = row_numbers(f, size) + offset == column_numbers(f, size);
  const NodeId matrix = KW_TRY(f.done(where(here, f(lined), Operand::of_bool(false))));
  const MatrixDims dims = KW_TRY(two_dims(b, matrix, first, second, "diag_embed"));
  return movedim(b, matrix, {-2, -1}, {dims.first, dims.second});
}

Result<NodeId> diag(Builder& b, NodeId x, const Dim& offset) {
  if (b.rank(x) == 1) return diag_embed(b, x, offset, 0, 1);
  if (b.rank(x) == 2) return diagonal(b, x, offset, 0, 1);
  return input_error("diag(): Supports 1D or 2D tensors. Got {}D", b.rank(x));
}

}  // namespace kw::graph
