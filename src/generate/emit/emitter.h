// Computes values of graph nodes at symbolic indices, as CUDA statements and expressions. Movement
// is index arithmetic on the way to the loads; a value used twice gets a name in the outermost
// possible scope. The schedules decide on the loops, through scopes and hooks.
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

inline constexpr size_t kMostStatements = 400;  // in one thread's straight-line code

/// An expression, and the innermost scope that it depends on.
struct Value {
  Expr expr;
  int level = 0;
};

/// front <= index < end.
struct Bound {
  Dim index{0}, front{0}, end{0};
};

/// An element that is read from memory, and its bounds.
struct Access {
  Buffer buffer;
  Dim address{0};
  std::vector<Bound> bounds;
  bool bounded = true;  // only the bounds decide whether it is read
};

/// What the statements so far use, for the kernel's head.
struct Used {
  std::vector<Dim> indices;
  std::vector<Access> accesses;
  std::set<std::string> buffers, functions;
  /// Names in indices that are not variables: dims and lets, which the kernel takes as arguments.
  std::set<std::string> parameters;
  /// Numbers of the plan, with the types of their parameters.
  std::map<std::string, std::string> numbers;
  /// The number of times each node was computed, at different indices or in different scopes.
  std::map<NodeId, int> instances;
};

class Emitter {
 public:
  using LoadHook = std::function<std::optional<Value>(const Buffer&, const Dim& address)>;
  /// `condition` is the name of the condition under which it is read; "" if it is always read. The
  /// value is 0 if the condition is false.
  using AccessHook =
      std::function<std::optional<Value>(const Access&, const std::string& condition, int level)>;
  using NodeHook = std::function<std::optional<Value>(NodeId, const Index&)>;

  /// `indent` is the indentation of the outermost scope's statements.
  explicit Emitter(const Region& region, int indent = 1);

  // Scopes. 0 is the kernel's body; every other scope is inside an earlier one.
  /// Opens a scope whose statements may use these variables; its indentation is `deeper` levels
  /// below `inside`.
  int open(const std::vector<std::string>& variables, int inside, int deeper = 1);
  /// Closes the innermost scope and returns its statements.
  std::string close();
  /// Removes and returns the scope's statements so far; its values stay known.
  std::string take(int level);
  /// The scope becomes a loop over `counter` below `count`. Values named there become arrays of the
  /// enclosing scope, so that later loops can use them.
  void keep_in_arrays(int level, const std::string& counter, const std::string& count);
  CudaWriter& at(int level) { return scopes_[static_cast<size_t>(level)].writer; }
  int level_of(const Dim& index) const;

  bool is_variable(const std::string& name) const { return variable_level_.count(name) > 0; }

  void set_level(const std::string& variable, int level) { variable_level_[variable] = level; }

  /// An unused name, as close to `wish` as possible.
  std::string fresh(const std::string& wish);
  /// The same, registered as a variable of that scope.
  std::string fresh_variable(const std::string& wish, int level);

  /// The node's value in registers.
  Value value(NodeId node, const Index& index);
  /// The same without the node's hook, for hooks that need the node computed.
  Value plain(NodeId node, const Index& index);
  /// The value with its own name.
  Value bound(const Value& value, DType dtype, const std::string& wish);
  /// Declares a value in that scope and returns its name.
  std::string declare(int level, const std::string& type, const std::string& wish,
                      const std::string& text);
  /// A name for `text` in that scope; the same text gets the same name.
  std::string named(int level, const std::string& type, const std::string& wish,
                    const std::string& text);
  /// The value of a Constant that the plan computes: a parameter of the kernel.
  Value number(const Node& constant);
  /// An index as C++ text; it is noted as used.
  std::string text(const Dim& index);
  /// Notes an index as used if it is printed elsewhere.
  void note(const Dim& index) { text(index); }
  /// Writes loops with these heads around the text of `body`'s scope, in `level`.
  void nest(int level, const std::vector<std::string>& heads, const std::string& body);
  /// The text of a value to store: rounded to the dtype.
  std::string stored(const Value& value, DType dtype);
  /// Stores the value in that scope.
  void store(int level, const Store& store, const Dim& address, const Value& value);
  /// `x[address]` as a register value; the hooks for loads may replace it.
  Value load(const Buffer& buffer, const Dim& address);
  /// A value that is valid only if a named condition holds.
  struct Guarded {
    std::string condition;
    Value value;

    Value or_else(const Value& other) const;
  };
  /// The value of `body`, which loads only if `condition` is true, whatever uses the value.
  /// `bounds` are the same condition, if it consists only of bounds.
  Guarded under(const std::string& condition, int level, const std::function<Value()>& body,
                const std::vector<Bound>& bounds = {});
  /// Text that reads memory, read only if the conditions around it hold; else it is `otherwise`.
  std::string if_inside(const std::string& text, const std::string& otherwise) const;

  LoadHook on_load;      // called for unconditional loads
  AccessHook on_access;  // called for all loads that on_load does not replace
  NodeHook on_node;
  std::map<std::string, Dim> rename;  // replacements for loop variables
  Ranges ranges;
  size_t budget = 4000;  // the number of values after which the emitter gives up
  int64_t straight = 0;  // loops with at most this constant number of iterations are unrolled

  bool overflowed() const { return work_ > budget; }
  const Used& used() const { return used_; }
  void need(const std::string& function) { used_.functions.insert(function); }
  void touch(const Buffer& buffer) { used_.buffers.insert(buffer.name); }
  const Region& region() const { return region_; }

 private:
  struct Scope {
    CudaWriter writer;
    int indent = 0;
    std::map<std::string, Value> memo;
    int inside = 0;
    std::map<std::string, std::string> named = {};  // names by text
    std::string counter = {}, count = {};           // for a loop whose values are kept in arrays
  };
  struct Condition {
    std::string name;
    int level = 0;
    std::vector<Bound> bounds = {};
    bool bounded = true;
  };

  std::string key_of(NodeId node, const Index& index) const;
  const Value* remembered(const std::string& key) const;
  Value compute(NodeId node, const Index& index);
  Value pointwise(NodeId node, const Index& index);
  Value hoisted(NodeId node, const Index& index, const Value& value, int level);
  std::optional<Value> shortcut(NodeId node, const Index& index);
  bool deserves_name(NodeId node, const Value& value) const;

  const Region& region_;
  std::vector<Scope> scopes_;
  std::map<std::string, int> variable_level_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // first number that may be free for a name
  std::map<NodeId, int> uses_;
  std::set<NodeId> roundings_;
  std::vector<Condition> conditions_;
  Used used_;
  size_t work_ = 0;
};

/// Movement ops, as values of their source at another index.
Value moved_value(Emitter& e, NodeId node, const Index& index);
/// Ops that read many elements, as loops of one thread.
Value serial_value(Emitter& e, NodeId node, const Index& index);
/// Counts, in a loop at `level`, the elements of the line that precede `candidate`, which is at
/// `at`. Returns the name of the count.
std::string serial_rank(Emitter& e, int level, const Node& selection, NodeId input, const Index& at,
                        const std::string& candidate);

}  // namespace kw::generate
