// Tensors as people write them: "fp16[B, 2 * D]" in annotations, --input and task.toml, and the
// same in jaxtyping's notation. Extents are expressions in the kernel module's grammar.
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

/// "fp16", and PyTorch's names: "float16", "half", "long".
std::optional<tensor::DType> dtype_from_text(std::string_view name);
/// "fp16[B, D]"; an Error shows the form.
Result<TensorText> parse_tensor_text(std::string_view text);

/// An extent at these dims, its symbols kept.
Result<graph::Dim> extent(const std::string& text, const task::Dims& dims);
Result<graph::Shape> shape_at(const std::vector<std::string>& shape, const task::Dims& dims);
/// Names an extent is made of.
std::set<std::string> names_in(const std::string& text);

/// What an annotation of a parameter says.
struct Annotation {
  enum class Kind : uint8_t { Nothing, Tensor, Int, Float, Bool } kind = Kind::Nothing;
  TensorText tensor;
};
/// Strings ("fp16[B, D]"), jaxtyping (Float16[Tensor, "b d"]), Annotated[Tensor, "…"], int, float,
/// bool. Anything else says nothing; a malformed tensor is an Error.
Result<Annotation> parse_annotation(const Json& node);

}  // namespace kw::frontend
