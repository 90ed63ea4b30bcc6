// One call of a PyTorch function, with its arguments bound to the signature of its row. The rows
// are in ops_*.cpp; the Python front end and the torch.export importer both call them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

struct LibraryRow;  // a function that is written in Python (library_rows.h)

class Call {
 public:
  /// Binds positional and keyword arguments to a signature such as "input, dim=None, *,
  /// keepdim=False". Errors name the function and the argument.
  static Result<Call> bind(graph::Builder& graph, std::string_view function,
                           std::string_view signature, std::vector<Value> positional,
                           std::vector<std::pair<std::string, Value>> keywords);

  graph::Builder& graph() { return *graph_; }
  const std::string& function() const { return function_; }

  const Value& operator[](std::string_view name) const;
  bool given(std::string_view name) const;  // by the caller, and not None

  // Typed access. Errors have the form "softmax(): argument 'dim' must be int, not str".
  Result<graph::NodeId> tensor(std::string_view name);  // a number is an Error
  Result<graph::Operand> operand(std::string_view name);
  Result<std::vector<graph::NodeId>> tensors(std::string_view name);
  Result<int64_t> integer(std::string_view name);
  Result<graph::Dim> dim_value(std::string_view name);
  /// Not set when the caller did not give it.
  Result<std::optional<graph::Dim>> maybe_dim(std::string_view name);
  /// The value alone. Runtime scalars behind it become constants of the task.
  Result<double> number(std::string_view name);
  /// The number with how it follows from extents and runtime scalars.
  Result<graph::Number> symbolic(std::string_view name);
  /// The same as a Python value, which can be calculated with.
  Result<Value> number_value(std::string_view name);
  Result<bool> boolean(std::string_view name);
  Result<std::string> text(std::string_view name);
  Result<std::optional<tensor::DType>> dtype(std::string_view name);
  /// A dim of `x`; negative ones count from the end, the result does not.
  Result<int> dim(std::string_view name, graph::NodeId x);
  /// None or an empty tuple: all dims; an int: one; a tuple: those. Never negative, sorted. A dim
  /// given twice is an Error.
  Result<std::vector<int>> dims(std::string_view name, graph::NodeId x);
  /// An int or a tuple of ints, as PyTorch's "size".
  Result<graph::Shape> sizes(std::string_view name);
  /// The arguments of a function with this signature. Its annotations say their types: Tensor,
  /// FloatTensor (of a float dtype), Tensors, Scalar (a number or a tensor), float, int, bool, str.
  Result<Arguments> typed(std::string_view signature);

 private:
  Call() = default;
  graph::Builder* graph_ = nullptr;
  std::string function_;
  std::vector<std::pair<std::string, Value>> bound_;
  std::vector<std::string> given_;
};

/// A function of PyTorch. `names` has every spelling, separated by blanks: "torch.softmax F.softmax
/// Tensor.softmax". "F." stands for torch.nn.functional. The first parameter of a Tensor method is
/// the tensor itself. A signature that ends in "*sizes" takes the remaining arguments as one tuple
/// (x.view(2, 3), x.permute(0, 2, 1)).
struct OpRow {
  const char* names;
  const char* signature;
  Result<Value> (*apply)(Call& call);  // null for a row that is written in Python
  const LibraryRow* library = nullptr;
};

/// The row for "torch.softmax", "F.softmax" or "Tensor.softmax"; null for an unknown name.
const OpRow* find_op(std::string_view name);
/// The row for an operator of an exported graph: "aten.add.Tensor", "aten.mean.dim", "aten::view",
/// "prims.convert_element_type.default"; null for an unknown operator.
const OpRow* find_aten(std::string_view overload);
/// Every name with a row, sorted: for suggestions and documentation.
const std::vector<std::string>& op_names();

// The tables, one per group of functions; ops.cpp joins them.
std::span<const OpRow> pointwise_rows();
std::span<const OpRow> reduction_rows();
std::span<const OpRow> norm_rows();
std::span<const OpRow> scan_rows();
std::span<const OpRow> selection_rows();
std::span<const OpRow> matmul_rows();
std::span<const OpRow> movement_rows();
std::span<const OpRow> creation_rows();

}  // namespace kw::frontend
