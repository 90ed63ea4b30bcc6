// Finds the function or module of a file that is the reference, and its parameters. For the loaders
// only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/python_tracer.h"
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
  std::string other;                         // the default, when it is not: "None"
};

struct Found {
  std::string name;  // in the file
  std::string why;   // why this one of several: "no other function calls it"; "" without a choice
  bool is_model = false;
  bool any_positional = false;  // *args
  bool any_keyword = false;     // **kwargs
  std::vector<Parameter> parameters;
};

/// The entry named `wanted`. Without a name: `reference`, `REFERENCE`, `Model`, the only function
/// or class; of several the annotated one, else the one that no other calls, else the one named
/// like the file.
Result<Found> find_entry(PythonTracer& tracer, const std::string& wanted);

/// One input as the user or get_inputs() gives it. The name is empty when get_inputs() returns a
/// sequence, not a dict.
struct GivenInput {
  std::string name;
  std::variant<std::monostate, TensorText, task::ScalarSpec> value;  // monostate: None
  bool written = false;  // the task also needs what the reference leaves in it
};
/// The inputs that get_inputs() returns, in order; not set when the file has no get_inputs().
Result<std::optional<std::vector<GivenInput>>> call_get_inputs(PythonTracer& tracer);

/// Parses one --input: "x:fp16[B,D]" or "eps=1e-5".
Result<GivenInput> parse_input_option(const std::string& text);

/// A Python number as a scalar of the task; not set for other values.
std::optional<task::ScalarSpec> scalar_of(const std::string& name, const Value& value);

}  // namespace kw::frontend
