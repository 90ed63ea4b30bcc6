// Values of graph nodes at symbolic indices, as CUDA statements and expressions. Movement is index
// arithmetic on the way to the loads; what is used twice gets a name in the outermost scope it can
// live in. Which loops there are is the schedules' business, through scopes and hooks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/index.h"
#include "emit/region.h"
#include "text/text.h"

namespace kw::generate {

inline constexpr size_t kMostStatements = 400;  // of one thread's straight code

/// An expression, and the innermost scope it depends on.
struct Value {
  Expr expr;
  int level = 0;
};

/// front <= index < end.
struct Bound {
  Dim index{0}, front{0}, end{0};
};

/// An element that is read from memory, and within which bounds.
struct Access {
  Buffer buffer;
  Dim address{0};
  std::vector<Bound> bounds;
  bool bounded = true;  // nothing but the bounds decides whether it is read
};

class Emitter {
 public:
  using LoadHook =
      std::function<std::optional<Value>(graph::NodeId, const Buffer&, const Dim& address)>;
  /// `condition`: the name of what must hold for it to be read, "" where nothing must; the value is
  /// 0 where it does not.
  using AccessHook =
      std::function<std::optional<Value>(const Access&, const std::string& condition, int level)>;
  using NodeHook = std::function<std::optional<Value>(graph::NodeId, const Index&)>;

  /// `indent`: of the statements of the outermost scope.
  explicit Emitter(const Region& region, int indent = 1);

  // Scopes. 0 is the kernel's body; every further one lies in an earlier one.
  /// A scope whose statements may use these variables, indented once more than scope `inside`.
  int open(const std::vector<std::string>& variables, int inside, int deeper = 1);
  /// Closes the innermost scope and gives its statements.
  std::string close();
  /// The scope's statements so far, which it forgets; its values stay known.
  std::string take(int level);
  /// From now on the scope is a loop over `counter` below `count`: what gets a name there is an
  /// array of the scope around it, so that later loops find it again.
  void keep_in_arrays(int level, const std::string& counter, const std::string& count);
  CudaWriter& at(int level) { return scopes_[static_cast<size_t>(level)].writer; }
  int level_of(const Dim& index) const;

  bool is_variable(const std::string& name) const { return variable_level_.count(name) > 0; }

  void set_level(const std::string& variable, int level) { variable_level_[variable] = level; }

  /// A name nobody has yet, as near to the wish as possible.
  std::string fresh(const std::string& wish);
  /// The same, known to live in that scope from now on.
  std::string fresh_variable(const std::string& wish, int level);

  /// The node's value in registers.
  Value value(graph::NodeId node, const Index& index);
  /// The same for a hook that wants the node computed after all.
  Value plain(graph::NodeId node, const Index& index);
  /// The value with a name of its own.
  Value bound(const Value& value, tensor::DType dtype, const std::string& wish);
  /// A name for what `text` says in that scope; the same one for the same text.
  std::string named(int level, const std::string& type, const std::string& wish,
                    const std::string& text);
  /// An index as C++ text; noted as used.
  std::string text(const Dim& index);
  /// Notes an index as used that is printed elsewhere.
  void note(const Dim& index) { text(index); }
  /// Loops around what `body` writes: the text of `body`'s scope inside these heads, in `level`.
  void nest(int level, const std::vector<std::string>& heads, const std::string& body);
  /// A value to be stored: rounded to the dtype.
  std::string stored(const Value& value, tensor::DType dtype);
  /// Stores it in that scope.
  void store(int level, const Store& store, const Dim& address, const Value& value);
  /// `x[address]` as a register value, past the load hook.
  Value load(graph::NodeId node, const Buffer& buffer, const Dim& address);
  /// A value that means something only where a named condition holds.
  struct Guarded {
    std::string condition;
    Value value;

    Value or_else(const Value& other) const;
  };
  /// What `body` gives; it loads only where `condition` is true, whatever is made of the values.
  /// `bounds`: the same condition, where it is nothing else.
  Guarded under(const std::string& condition, int level, const std::function<Value()>& body,
                const std::vector<Bound>& bounds = {});

  LoadHook on_load;      // what is read whatever holds
  AccessHook on_access;  // everything that is read
  NodeHook on_node;
  std::map<std::string, Dim> rename;  // loop variables that became others
  Ranges ranges;
  size_t budget = 4000;  // values computed before giving up
  int64_t straight = 0;  // loops of at most so many turns, whatever the dims, are written out

  // What was used, for the kernel's head.
  bool overflowed() const { return work_ > budget; }
  const std::vector<Dim>& used_indices() const { return used_; }
  const std::vector<Access>& accesses() const { return accesses_; }
  const std::set<std::string>& used_buffers() const { return buffers_; }
  /// Names in indices that are no variables: dims and lets, which the kernel takes as arguments.
  const std::set<std::string>& parameters() const { return parameters_; }
  const std::set<std::string>& functions() const { return functions_; }
  void need(const std::string& function) { functions_.insert(function); }
  void touch(const Buffer& buffer) { buffers_.insert(buffer.name); }
  const Region& region() const { return region_; }
  /// How often each node was computed, at different indices or in different scopes.
  const std::map<graph::NodeId, int>& instances() const { return instances_; }

 private:
  struct Scope {
    CudaWriter writer;
    int indent = 0;
    std::map<std::string, Value> memo;
    int inside = 0;
    std::map<std::string, std::string> named = {};  // by their texts
    std::string counter = {}, count = {};           // of a loop whose values are kept in arrays
  };
  struct Condition {
    std::string name;
    int level = 0;
    std::vector<Bound> bounds = {};
    bool bounded = true;
  };

  std::string declare(int level, const std::string& type, const std::string& wish,
                      const std::string& text);
  std::string key_of(graph::NodeId node, const Index& index) const;
  const Value* remembered(const std::string& key) const;
  Value compute(graph::NodeId node, const Index& index);
  Value pointwise(graph::NodeId node, const Index& index);
  Value hoisted(graph::NodeId node, const Index& index, const Value& value, int level);
  std::string noun_of(graph::NodeId node) const;
  std::optional<Value> shortcut(graph::NodeId node, const Index& index);
  Value constant(const graph::Node& node);
  Value source(graph::NodeId node, const Index& index);
  Value movement(graph::NodeId node, const Index& index);
  Value padded(graph::NodeId node, const Index& index);
  Value joined(graph::NodeId node, const Index& index);
  Value picked(graph::NodeId node, const Index& index);
  Dim index_variable(graph::NodeId node, const Index& index, const Dim& extent);
  bool deserves_name(graph::NodeId node, const Value& value) const;

  const Region& region_;
  std::vector<Scope> scopes_;
  std::map<std::string, int> variable_level_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // the first that may be free behind a name
  std::map<graph::NodeId, int> uses_;
  std::vector<Condition> conditions_;
  std::vector<Dim> used_;
  std::vector<Access> accesses_;
  std::set<std::string> buffers_, functions_, parameters_;
  std::map<graph::NodeId, int> instances_;
  size_t work_ = 0;
};

/// Ops that look at many elements, as loops of one thread.
Value serial_value(Emitter& e, graph::NodeId node, const Index& index);
/// Counts, in a loop at `level`, how many elements of the line come before `candidate`, which lies
/// at `at`; gives the count's name.
std::string serial_rank(Emitter& e, int level, const graph::Node& selection, graph::NodeId input,
                        const Index& at, const std::string& candidate);

}  // namespace kw::generate
