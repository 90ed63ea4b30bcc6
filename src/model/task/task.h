// A task: the reference, its tensors, the shapes for correctness and for time, and the precision.
// The front end makes it; afterwards it does not change.
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

/// The source of the graph. The front end implements tracing for other dims.
class Reference {
 public:
  virtual ~Reference();
  /// The graph at these dims. Input Error when the reference refuses them.
  virtual Result<graph::Graph> trace(const Dims& dims) const = 0;
  /// Whether a trace takes long: another process makes it for every shape.
  virtual bool is_slow() const { return false; }
};

/// The structure of the last two dims of an input. Elements outside are 0, or mirrored.
enum class Structure : uint8_t { General, Upper, Lower, Symmetric };

/// How the values of an input are drawn when its meaning limits them.
struct Legal {
  std::optional<int64_t> low, high;  // integers, inclusive; high may also be …
  std::string below;                 // … this expression over dims, minus 1: "NB * 16"
  std::optional<double> float_low, float_high;
  bool permutation = false;  // of 0 … n-1 along the last dim
  bool positive = false;     // for example a running variance
  Structure structure = Structure::General;
};

/// How the file of the reference fills a tensor, if that tests less than the judge's inputs. It
/// describes the file's own test; the judge does not use it.
struct OwnFill {
  std::optional<double> number;     // the same number everywhere
  std::optional<double> low, high;  // values in this range

  bool known() const { return number || low; }
};

enum class Role : uint8_t {
  Input,   // new in every call
  Weight,  // static: a parameter or buffer of a network; never all 0 or all 1
};

struct TensorSpec {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::string>
      shape;  // expressions over dims, in the grammar of kernel modules: "2 * D"
  Role role = Role::Input;
  Legal legal;
  bool optional = false;
  bool written = false;  // the reference writes into it (also an output)
  OwnFill own = {};
};

struct ScalarSpec {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  double number = 0;    // floats
  int64_t integer = 0;  // integers and bool
  /// Passed with every call: the graph computes with it, and candidates are judged at other values
  /// of the same kind (positive ones stay positive). Otherwise a constant of the task.
  bool runtime = false;

  double value() const { return tensor::is_float(dtype) ? number : static_cast<double>(integer); }
};

/// The range of a dim when shapes are derived.
struct DimRange {
  int64_t low = 1, high = int64_t{1} << 40;
  int64_t multiple = 1;

  bool takes(int64_t extent) const;
  /// The next multiple, wherever the range ends.
  int64_t up(int64_t extent) const { return (extent + multiple - 1) / multiple * multiple; }
  /// The next extent that it takes, or the largest.
  int64_t nearest(int64_t wanted) const;
};

enum class NanPolicy : uint8_t {
  Never,      // inputs are finite; no infinities or NaN are drawn
  Propagate,  // they are drawn; each output must be in the same class as the truth
};

struct Precision {
  bool allow_tf32 = false;       // products of matmuls may be rounded to tf32
  bool flush = false;            // fp32 and bf16 denormals may become zero
  bool deterministic = false;    // two runs must give the same bits
  bool batch_invariant = false;  // a row must give the same bits in every batch
  NanPolicy nan = NanPolicy::Never;
  std::optional<double> atol, rtol;  // an additional outer bound that the task states
};

/// A value that is passed to a candidate.
struct CallValue {
  enum class Kind : uint8_t { None, Tensor, Int, Float, Bool, Tuple };
  Kind kind = Kind::None;
  std::string text = {};  // name of a tensor; an int as an expression over dims
  double number = 0;      // Float and Bool
  std::vector<CallValue> items = {};
};

/// How the reference's own harness calls a candidate, if it has one.
struct Call {
  std::vector<CallValue> arguments;
  std::vector<std::string> results;  // outputs in the order returned; empty: in the task's order
  std::vector<TensorSpec> spare;     // also passed, but no output needs their values
};

/// The properties of a tensor that are the same at every shape.
struct TensorForm {
  tensor::DType dtype = tensor::DType::Fp32;
  size_t rank = 0;

  friend bool operator==(const TensorForm&, const TensorForm&) = default;
};

struct Task {
  std::string name, prompt;
  std::string source_path, source;  // the reference as read
  std::string function;  // the one that was chosen of several; "": the file leaves no choice
  std::string format;    // "function", "kernelbench", "optimizer", "folder", "fixture"
  std::vector<TensorSpec> inputs;
  std::vector<ScalarSpec> scalars;
  std::vector<std::string> output_names;  // in the order the trace returns them
  std::vector<TensorForm> output_forms;   // of the outputs; empty: unknown
  std::map<std::string, DimRange> dims;
  std::vector<Dims> correctness_shapes, benchmark_shapes;  // at least one of each
  Precision precision;
  std::vector<std::string> notes;     // assumptions: "shape of w from get_inputs()"
  std::vector<std::string> unneeded;  // weights of the reference that no output needs
  bool keeps_state = false;           // a second call of the reference gives another result
  std::optional<Call> call;
  std::shared_ptr<const Reference>
      reference;  // shared: tasks are copied, and a reference never changes

  const TensorSpec* find_input(const std::string& name) const;
  /// Sets names and forms of the outputs from this trace.
  void set_outputs(const graph::Graph& graph);
  /// How inputs and outputs of a trace differ from the task's: "inputs (no 'bias')"; "" if equal.
  std::string difference(const graph::Graph& graph) const;
  /// The graph of the reference at these dims. Input Error when the reference refuses them, or when
  /// inputs or outputs differ from the task's: a task has one set of tensors.
  Result<graph::Graph> graph_at(const Dims& dims) const;
  /// Concrete extents of an input at these dims.
  Result<std::vector<int64_t>> shape_of(const TensorSpec& spec, const Dims& at) const;
};

/// The value of an expression over dims: "2 * D".
Result<int64_t> extent_at(const std::string& expression, const Dims& at);

/// The graph with other values of runtime scalars, which it then names in Graph::scalars.
Result<graph::Graph> with_scalars(const Task& task, const Dims& at, graph::Graph graph,
                                  const std::map<std::string, double>& values);

/// "B=16384 D=1024".
std::string dims_text(const Dims& dims);
/// The task as data, without its graph. Verdicts refer to it; its hash identifies the task.
Json to_json(const Task& task);
std::string task_hash(const Task& task);

}  // namespace kw::task
