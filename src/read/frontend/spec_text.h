// Parses tensors as text: "fp16[B, 2 * D]" in annotations, --input and task.toml, and jaxtyping's
// notation. Extents are expressions in the kernel module's grammar.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/dim.h"
#include "task/task.h"
#include "tensor/dtype.h"

namespace kw::frontend {

struct TensorText {
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::string> shape;
  task::Legal legal;
};

/// Reads "fp16" and PyTorch's names: "float16", "half", "long".
std::optional<tensor::DType> dtype_from_text(std::string_view name);
/// Parses "fp16[B, D]"; an Error shows the form.
Result<TensorText> parse_tensor_text(std::string_view text);

/// An extent at these dims; it keeps its symbols.
Result<graph::Dim> extent(const std::string& text, const task::Dims& dims);
Result<graph::Shape> shape_at(const std::vector<std::string>& shape, const task::Dims& dims);
/// The names in an extent.
std::set<std::string> names_in(const std::string& text);

/// The contents of a parameter's annotation.
struct Annotation {
  enum class Kind : uint8_t { Nothing, Tensor, Int, Float, Bool } kind = Kind::Nothing;
  TensorText tensor;
};
/// Reads strings ("fp16[B, D]"), jaxtyping (Float16[Tensor, "b d"]), Annotated[Tensor, "…"], int,
/// float and bool. Any other annotation gives Kind::Nothing; a malformed tensor is an Error.
Result<Annotation> parse_annotation(const Json& node);

}  // namespace kw::frontend
