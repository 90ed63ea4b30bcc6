// Which function or model of a file is the reference, and what its parameters are. Used by the
// loaders only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/evaluator.h"
#include "frontend/spec_text.h"
#include "frontend/trace.h"
#include "task/task.h"

namespace kw::frontend {

struct Parameter {
  std::string name;
  Annotation annotation;
  bool keyword_only = false;
  bool has_default = false;
  std::optional<task::ScalarSpec> fallback;  // the default, when it is a number
};

struct Found {
  std::string name;  // in the file
  bool is_model = false;
  bool any_positional = false;  // *args
  bool any_keyword = false;     // **kwargs
  std::vector<Parameter> parameters;
};

/// `wanted` by name, else `reference`, `REFERENCE`, `Model`, or the only function there is.
Result<Found> find_entry(Evaluator& evaluator, const std::string& wanted);

/// What get_inputs() gives, in order; names only when it gives a dict. Nothing when there is no
/// get_inputs().
struct GivenInput {
  std::string name;
  std::variant<std::monostate, TensorText, task::ScalarSpec> value;  // monostate: None
  bool written = false;  // what the reference leaves in it is asked for, too
};
Result<std::optional<std::vector<GivenInput>>> call_get_inputs(Evaluator& evaluator);

/// One --input: "x:fp16[B,D]" or "eps=1e-5".
Result<GivenInput> parse_input_option(const std::string& text);

/// A Python number as a scalar of the task; nothing for other values.
std::optional<task::ScalarSpec> scalar_of(const std::string& name, const Value& value);

}  // namespace kw::frontend
