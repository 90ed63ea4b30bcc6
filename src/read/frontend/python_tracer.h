// Evaluates a Python syntax tree on symbolic values: it computes numbers, and tensors become graph
// nodes. One tracer makes one trace. It never runs Python; it refuses unknown names by name. Its
// parts are functions over one state (trace_state.h):
//
// python_tracer.cpp  statements at file level    statements.cpp      other statements
// functions.cpp      functions, arguments        expressions.cpp     expressions
// classes.cpp        classes, objects            modules.cpp         nn.Module
// tensors.cpp        op rows, in-place updates   random_tensors.cpp  random tensors
// builtins.cpp       functions of Python         torch_library.cpp   functions of libraries
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/trace_state.h"
#include "frontend/value.h"

namespace kw::frontend {

class PythonTracer {
 public:
  PythonTracer(std::shared_ptr<const Source> source, TraceSettings settings)
      : state_(std::move(source), std::move(settings)) {}

  /// Runs the file's own statements. A name whose value failed is an Error only when it is used.
  Status run_module();
  /// The value of a name of the file; null for an unknown name. An Error if computing it failed.
  Result<const Value*> global(const std::string& name);
  /// Calls a function, class or object of the file.
  Result<Value> call(const Value& callee, const Arguments& arguments);

  graph::Builder& graph() { return state_.graph; }
  const std::map<std::string, Value>& globals() const { return state_.globals->names; }
  const Source& source() const { return *state_.source; }
  void set_randomness(Randomness randomness) { state_.randomness = randomness; }
  const std::vector<Drawn>& drawn() const { return state_.drawn; }
  const std::vector<Drawn>& parameters() const { return state_.parameters; }
  /// Ints at file level that became dims (see Settings), with their values.
  const task::Dims& dims() const { return state_.dims; }
  const std::vector<Tensor>& running() const { return state_.running; }
  bool allow_tf32() const { return state_.allow_tf32; }
  /// The expression of the last return statement of the outermost call; null without one.
  const Json* last_return() const { return state_.last_return; }

 private:
  TraceState state_;
};

}  // namespace kw::frontend
