// What is asked of a kernel: the reference's meaning, its tensors, the shapes to be right at and
// the ones to be fast at, and the precision it must keep. Made by frontend, frozen from then on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "tensor/dtype.h"

namespace kw::task {

/// Values of the named dims: one shape of the task.
using Dims = std::map<std::string, int64_t>;

/// Where the graph comes from. Tracing again for other dims is the front end's business.
class Reference {
 public:
  virtual ~Reference();
  /// The graph at these dims; an input Error when the reference itself refuses them.
  virtual Result<graph::Graph> trace(const Dims& dims) const = 0;
};

/// What the last two dims of an input form; elements outside are 0, or mirrored.
enum class Structure : uint8_t { General, Upper, Lower, Symmetric };

/// How an input's values are drawn, where its meaning limits them.
struct Legal {
  std::optional<int64_t> low, high;  // integers, inclusive; high may also be …
  std::string high_dim;              // … this dim's value minus 1 (an index into it)
  std::optional<double> float_low, float_high;
  bool permutation = false;  // of 0 … n-1 along the last dim
  bool positive = false;     // e.g. a running variance
  Structure structure = Structure::General;
};

/// How the reference's file fills a tensor itself, where that shows less than what the judge draws.
/// Says something about the file's own test; nobody is judged by it.
struct OwnFill {
  std::optional<double> number;     // throughout
  std::optional<double> low, high;  // between these

  bool known() const { return number || low; }
};

enum class Role : uint8_t {
  Input,   // new for every call
  Weight,  // static: a parameter or buffer of a model; never 0 or 1 throughout
};

struct TensorSpec {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::string>
      shape;  // expressions over dims, in the kernel module's grammar: "B", "2 * D", "128"
  Role role = Role::Input;
  Legal legal;
  bool optional = false;
  bool written = false;  // the reference writes into it (an output too)
  OwnFill own = {};
};

struct ScalarSpec {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  double number = 0;    // floats
  int64_t integer = 0;  // integers and bool
};

/// The range a dim may be drawn from when shapes are derived.
struct DimRange {
  int64_t low = 1, high = int64_t{1} << 40;
  int64_t multiple = 1;
};

enum class NanPolicy : uint8_t {
  Never,      // inputs are finite; families with infinities or NaN are not drawn
  Propagate,  // they are drawn, and the class of every output must be the truth's
};

struct Precision {
  bool allow_tf32 = false;     // matmul products may be rounded to tf32
  bool flush = false;          // fp32 and bf16 denormals may become zero
  bool deterministic = false;  // two runs must give the same bits
  NanPolicy nan = NanPolicy::Never;
  std::optional<double> atol, rtol;  // an additional outer bound stated by the task
};

/// A value that a candidate is called with.
struct CallValue {
  enum class Kind : uint8_t { None, Tensor, Int, Float, Bool, Tuple };
  Kind kind = Kind::None;
  std::string text = {};  // a tensor's name; an int as an expression over dims
  double number = 0;      // Float and Bool
  std::vector<CallValue> items = {};
};

/// How a reference's own harness calls a candidate, where it has one.
struct Call {
  std::vector<CallValue> arguments;
  std::vector<std::string> results;  // outputs, as they are returned; empty: in the task's order
  std::vector<TensorSpec> spare;     // given too, though no output needs their values
};

/// What is the same of a tensor at every shape.
struct TensorForm {
  tensor::DType dtype = tensor::DType::Fp32;
  size_t rank = 0;

  friend bool operator==(const TensorForm&, const TensorForm&) = default;
};

struct Task {
  std::string name, prompt;
  std::string source_path, source;  // the reference as read
  std::string format;               // "function", "kernelbench", "optimizer", "folder", "fixture"
  std::vector<TensorSpec> inputs;
  std::vector<ScalarSpec> scalars;
  std::vector<std::string> output_names;  // as the trace returns them
  std::vector<TensorForm> output_forms;   // of those; empty: not known
  std::map<std::string, DimRange> dims;
  std::vector<Dims> correctness_shapes, benchmark_shapes;  // at least one of each
  Precision precision;
  std::vector<std::string> notes;     // what was assumed: "shape of w from get_inputs()"
  std::vector<std::string> unneeded;  // weights the reference has and no output needs
  bool keeps_state = false;           // a second call of the reference computes something else
  std::optional<Call> call;
  std::shared_ptr<const Reference>
      reference;  // shared: tasks are copied, a reference never changes

  const TensorSpec* find_input(const std::string& name) const;
  /// Names and forms of the outputs, as this trace has them.
  void set_outputs(const graph::Graph& graph);
  /// How the inputs and outputs of a trace differ from the task's: "inputs (no 'bias')"; "" if not.
  std::string difference(const graph::Graph& graph) const;
  /// What the reference computes at these dims. An input Error where it refuses them, and where
  /// its inputs or outputs are others than the task's: a task has one set of tensors.
  Result<graph::Graph> graph_at(const Dims& dims) const;
  /// Concrete extents of an input at these dims.
  Result<std::vector<int64_t>> shape_of(const TensorSpec& spec, const Dims& at) const;
};

/// The value of an expression over dims: "2 * D".
Result<int64_t> extent_at(const std::string& expression, const Dims& at);

/// "B=16384 D=1024".
std::string dims_text(const Dims& dims);
/// The task as data, without its graph: what a verdict refers to. Its hash names the task.
Json to_json(const Task& task);
std::string task_hash(const Task& task);

}  // namespace kw::task
