// One trace of a reference at given dims. It evaluates the file, constructs the module, binds the
// inputs and names the outputs. A Task's Reference traces once for every shape.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"
#include "frontend/spec_text.h"
#include "frontend/syntax.h"
#include "frontend/value.h"
#include "graph/graph.h"
#include "task/task.h"

namespace kw::frontend {

struct DimArgument {};  // the dim with the parameter's own name
struct TensorArgument {
  TensorText text;
  bool written = false;  // the task also needs what the reference leaves in it
  bool described = false;  // by an annotation, the user or the task; not by get_inputs()
};

/// How one parameter of the reference gets its value.
struct Argument {
  std::string name;
  bool by_keyword = false;
  std::variant<TensorArgument, DimArgument, task::ScalarSpec> value;
};

/// What to trace, and its arguments.
struct TraceEntry {
  std::shared_ptr<const Source> source;  // shared by every trace; never changes
  std::string name;                      // a function, class or object of the file
  std::vector<Argument> arguments;
  std::vector<std::string> output_names;  // from the task; empty: from the return statement
  bool writes_only = false;               // outputs are the tensors written in place, if any
  bool evaluation = false;                // modules are in eval mode
  bool returns_only = false;              // outputs are the returned tensors, if any: gradients
};

struct Weight {
  std::string name;  // an identifier: "net_0_weight"
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::string> shape;
  task::Legal legal;
  bool trained = false;                         // a parameter; not a buffer
  std::optional<double> filled = std::nullopt;  // the one number that the file fills it with
};

struct Trace {
  graph::Graph graph;
  std::vector<Weight> weights;          // in the graph's order, after the arguments
  std::vector<std::string> write_only;  // arguments that are only written, so not inputs
  std::vector<std::string> written;     // arguments that are outputs, too
  std::vector<std::string> fixed;       // runtime scalars whose values decided what is traced
  size_t returned = 0;                  // outputs of the return value; written arguments follow
  std::vector<std::string> notes;
  std::vector<std::string> unneeded;  // weights and buffers that no output needs
  task::Dims file_dims;               // ints at file level that served as dims
  bool allow_tf32 = false;
};

/// Whether a second call in the same process, with other inputs, computes the same as the first.
/// False: the reference keeps state between calls.
bool repeats_itself(const TraceEntry& entry, const task::Dims& dims, const graph::Graph& first);

/// `every_int`: every int at file level keeps its name in the shapes.
Result<Trace> trace_entry(const TraceEntry& entry, const task::Dims& dims, bool every_int = false);

class PythonTracer;

/// An entry before it is called.
struct PreparedEntry {
  PythonTracer& tracer;
  Value callee;
  Arguments arguments;
  std::map<graph::NodeId, std::string> names;  // of inputs and weights
};
/// Prepares the entry and passes it to `look`, which can inspect the call before it is made.
Status stage_entry(const TraceEntry& entry, const task::Dims& dims,
                   const std::function<Status(PreparedEntry&)>& look);

/// Traces the entry at any dims.
class PythonReference : public task::Reference {
 public:
  explicit PythonReference(TraceEntry entry) : entry_(std::move(entry)) {}
  Result<graph::Graph> trace(const task::Dims& dims) const override;
  /// The graph with marks at nodes that stop gradients (graph/derive.h).
  Result<graph::Graph> trace_marked(const task::Dims& dims) const;
  const TraceEntry& entry() const { return entry_; }

 private:
  TraceEntry entry_;
};

}  // namespace kw::frontend
