// The problem: a module names its own dims and may declare extents as expressions, such as "2 * D".
// The solver makes one equation per declared extent from the concrete shapes. It takes plain names
// first, then solves equations with one unknown by bisection, then uses the task's dims of the same
// name. The alternative, symbolic algebra, would need rules for every operator of the expression
// language. The cost: bisection needs extents that grow with their dims; others are found only by
// name. At the end every equation is evaluated, so a wrong solution is an Error.
#include "shapes/binding.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/contains.h"
#include "core/text.h"
#include "kernel/expr.h"
#include "tensor/inputs.h"
#include "tensor/npy.h"

namespace kw::shapes {

namespace {

/// States that an expression in a declaration has this value at the current shape.
struct Equation {
  const kernel::TensorDecl* decl = nullptr;
  const kernel::Expr* expr = nullptr;
  int64_t value = 0;
};

class DimSolver {
 public:
  DimSolver(const kernel::Module& module, const std::set<std::string>& absent,
            const task::Dims& task_dims)
      : names_(module.dims(absent)), task_dims_(task_dims) {
    for (const kernel::LetDecl& decl : module.lets) scope_.lets[decl.name] = &decl.value;
    scope_.absent = absent;
  }

  void add(const kernel::TensorDecl& decl, const std::vector<int64_t>& shape) {
    for (size_t i = 0; i < shape.size(); ++i)
      equations_.push_back({&decl, &decl.shape[i], shape[i]});
  }

  Result<std::map<std::string, int64_t>> solve() {
    take_plain_names();
    while (std::optional<std::string> name = next_single()) solve_one(*name);
    take_task_dims();
    KW_TRY(check());
    return dims_;
  }

 private:
  bool is_dim(const std::string& name) const { return contains(names_, name); }

  void set(const std::string& name, int64_t value) {
    dims_[name] = value;
    scope_.values[name] = value;
  }

  void take_plain_names() {
    for (const Equation& equation : equations_) {
      const kernel::ExprNode& root = equation.expr->root();
      if (root.op == kernel::ExprOp::Name && is_dim(root.name) && dims_.count(root.name) == 0)
        set(root.name, equation.value);
    }
  }

  void take_task_dims() {
    for (const std::string& name : names_) {
      const auto at = task_dims_.find(name);
      if (dims_.count(name) == 0 && at != task_dims_.end()) set(name, at->second);
    }
  }

  void collect_open(const kernel::Expr& expr, std::set<std::string>* open, int depth = 0) const {
    for (const kernel::ExprNode& node : expr.nodes) {
      if (node.op != kernel::ExprOp::Name) continue;
      if (is_dim(node.name) && dims_.count(node.name) == 0) open->insert(node.name);
      const auto let = scope_.lets.find(node.name);
      if (let != scope_.lets.end() && depth < 64) collect_open(*let->second, open, depth + 1);
    }
  }

  // Returns the unknown of an equation with exactly one unknown that was not tried before.
  std::optional<std::string> next_single() {
    for (const Equation& equation : equations_) {
      std::set<std::string> open;
      collect_open(*equation.expr, &open);
      if (open.size() != 1 || !tried_.insert({equation.expr, *open.begin()}).second) continue;
      current_ = &equation;
      return *open.begin();
    }
    return std::nullopt;
  }

  std::optional<int64_t> value_with(const std::string& name, int64_t value) {
    scope_.values[name] = value;
    scope_.known_lets.clear();
    const Result<int64_t> result = kernel::evaluate(*current_->expr, scope_);
    scope_.values.erase(name);
    scope_.known_lets.clear();
    return result ? std::optional<int64_t>(*result) : std::nullopt;
  }

  // Bisection, because extents grow with their dims. An extent that shrinks with its dim is found
  // only by the task's name for the dim.
  void solve_one(const std::string& name) {
    const auto said = task_dims_.find(name);
    if (said != task_dims_.end() && value_with(name, said->second) == current_->value)
      return set(name, said->second);
    int64_t low = 0, high = kernel::kMaxDim;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const std::optional<int64_t> value = value_with(name, middle);
      if (!value || *value >= current_->value)
        high = middle;
      else
        low = middle + 1;
    }
    if (value_with(name, low) == current_->value) set(name, low);
  }

  Status check() {
    scope_.known_lets.clear();
    for (const std::string& name : names_) {
      if (dims_.count(name) == 0)
        return input_error("the module's dim {} does not follow from the task's shapes", name);
    }
    for (const Equation& equation : equations_) {
      const int64_t value = KW_TRY(kernel::evaluate(*equation.expr, scope_));
      if (value == equation.value) continue;
      const std::string values = kernel::values_of(*equation.expr, scope_);
      return input_error("line {}: '{}' is declared with extent '{}' = {}{}, here it is {}",
                         equation.decl->line, equation.decl->name, equation.expr->text, value,
                         values.empty() ? "" : " (" + values + ")", equation.value);
    }
    return Done{};
  }

  std::vector<std::string> names_;
  const task::Dims& task_dims_;
  kernel::Scope scope_;
  std::vector<Equation> equations_;
  std::map<std::string, int64_t> dims_;
  std::set<std::pair<const kernel::Expr*, std::string>> tried_;
  const Equation* current_ = nullptr;
};

/// The matching may come from another shape, at which the reference has other tensors.
Status add_extents(const kernel::TensorDecl& decl, const graph::Graph& graph,
                   const std::vector<graph::NamedNode>& nodes, int index, DimSolver* solver) {
  if (index < 0) return Done{};
  const auto at = static_cast<size_t>(index);
  if (at >= nodes.size())
    return input_error(
        "line {}: the reference has no tensor for '{}' at this shape, though it has one at "
        "another: a task has one set of tensors at every shape",
        decl.line, decl.name);
  const std::vector<int64_t> shape = graph::values_of(graph[nodes[at].node].shape);
  if (shape.size() != decl.shape.size())
    return input_error("line {}: '{}' has {} dimensions, the task's '{}' has {} here", decl.line,
                       decl.name, decl.shape.size(), nodes[at].name, shape.size());
  solver->add(decl, shape);
  return Done{};
}

Status set_scalar(const kernel::ScalarDecl& decl, const task::ScalarSpec& spec,
                  kernel::Bindings* bindings) {
  const bool floating = tensor::is_float(spec.dtype);
  if (tensor::is_float(decl.dtype)) {
    bindings->scalars[decl.name] = floating ? spec.number : static_cast<double>(spec.integer);
    return Done{};
  }
  const bool whole =
      !floating || (std::floor(spec.number) == spec.number && std::fabs(spec.number) < 0x1p62);
  if (!whole) {
    return input_error("line {}: scalar '{}' is {}, the task's '{}' is {:g}", decl.line, decl.name,
                       tensor::dtype_name(decl.dtype), spec.name, spec.number);
  }
  const int64_t value = floating ? static_cast<int64_t>(spec.number) : spec.integer;
  const tensor::IntegerRange range = tensor::integer_limits(decl.dtype);
  if (value < range.low || value > range.high) {
    return input_error("line {}: scalar '{}' is {}, which cannot hold {}", decl.line, decl.name,
                       tensor::dtype_name(decl.dtype), value);
  }
  bindings->integer_scalars[decl.name] = value;
  return Done{};
}

bool has_default(const kernel::ScalarDecl& decl) {
  return tensor::is_float(decl.dtype) ? decl.value.has_value() : decl.integer.has_value();
}

/// The task's scalars, with the values that the graph was made for.
std::vector<task::ScalarSpec> scalars_at(const task::Task& task, const graph::Graph& graph) {
  std::vector<task::ScalarSpec> scalars = task.scalars;
  for (task::ScalarSpec& spec : scalars) {
    const auto other = graph.scalars.find(spec.name);
    if (other == graph.scalars.end()) continue;
    spec.number = other->second;
    spec.integer = static_cast<int64_t>(other->second);
  }
  return scalars;
}

Status bind_scalars(const kernel::Module& module, const std::vector<task::ScalarSpec>& scalars,
                    const task::Dims& dims, kernel::Bindings* bindings) {
  std::vector<const kernel::ScalarDecl*> open;
  std::vector<const task::ScalarSpec*> left;
  for (const task::ScalarSpec& spec : scalars) {
    if (module.find_scalar(spec.name) == nullptr) left.push_back(&spec);
  }
  for (const kernel::ScalarDecl& decl : module.scalars) {
    const auto spec = std::ranges::find(scalars, decl.name, &task::ScalarSpec::name);
    const auto dim = dims.find(decl.name);
    if (spec != scalars.end()) {
      KW_TRY(set_scalar(decl, *spec, bindings));
    } else if (dim != dims.end()) {
      KW_TRY(set_scalar(decl, {decl.name, tensor::DType::Int64, 0, dim->second}, bindings));
    } else if (!has_default(decl)) {
      open.push_back(&decl);
    }
  }
  for (size_t i = 0; i < open.size(); ++i) {
    if (i >= left.size()) {
      return input_error(
          "line {}: scalar '{}' has no default, and the task has no value of that name",
          open[i]->line, open[i]->name);
    }
    KW_TRY(set_scalar(*open[i], *left[i], bindings));
  }
  return Done{};
}

}  // namespace

Result<kernel::Bindings> bind_shape(const kernel::Module& module, const Matching& matching,
                                    const task::Task& task, const graph::Graph& graph,
                                    const task::Dims& dims, const kernel::Bindings& fixed) {
  kernel::Bindings bindings = fixed;
  bindings.absent = matching.absent;
  DimSolver solver(module, matching.absent, dims);
  for (size_t i = 0; i < module.tensors.size(); ++i) {
    KW_TRY(add_extents(module.tensors[i], graph, graph.inputs, matching.tensors[i].input, &solver));
    KW_TRY(
        add_extents(module.tensors[i], graph, graph.outputs, matching.tensors[i].output, &solver));
  }
  bindings.dims = KW_TRY(solver.solve());
  KW_TRY(bind_scalars(module, scalars_at(task, graph), dims, &bindings));
  return bindings;
}

}  // namespace kw::shapes
