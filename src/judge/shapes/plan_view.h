// A module's launch plan as a function of the task's dims. It answers which launch group a shape
// selects and what an expression is worth there, without tracing the reference or compiling, so
// that a search can ask thousands of times. The gate checks what is found at a real shape.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/expr.h"
#include "shapes/binding.h"
#include "shapes/shapes.h"

namespace kw::shapes {

/// The value of a name of the module: times * product(dims) / over.
struct NameRule {
  int64_t times = 1, over = 1;
  std::vector<std::string> dims;  // of the task
};

class PlanView {
 public:
  /// Learns from shapes whose graphs are known what the module's dims mean. All references must
  /// outlive this object.
  PlanView(const kernel::Module& module, const Matching& matching, const task::Task& task,
           const kernel::Bindings& fixed, const std::vector<const ShapeCase*>& known);

  const kernel::Module& module() const { return module_; }
  const task::Task& task() const { return task_; }
  /// Names of the module whose value could not be learned from the task's dims. If there are any,
  /// nothing can be evaluated.
  const std::vector<std::string>& unknown() const { return unknown_; }
  bool usable() const { return scope_.has_value() && unknown_.empty(); }
  const std::map<std::string, NameRule>& rules() const { return rules_; }
  /// The fixed names: tunables, scalars, numbers of the device. Needs usable().
  const kernel::Scope& fixed_scope() const { return *scope_; }

  /// Gives the names of a copy of fixed_scope() their values at these dims. False: out of range.
  bool enter(const task::Dims& dims, kernel::Scope* scope) const;
  /// The first group whose guard holds; -1: no guard holds. Not set: a guard has no value.
  std::optional<int> group_at(const kernel::Scope& scope) const;
  std::optional<int> group_at(const task::Dims& dims) const;
  /// Names the code that a shape runs: its launch group, and the kernels with their template
  /// arguments, which may follow from the dims. "": no group, or a value is out of range.
  std::string variant_at(const task::Dims& dims) const;

 private:
  const kernel::Module& module_;
  const task::Task& task_;
  std::map<std::string, NameRule> rules_;
  std::vector<std::string> unknown_;
  std::optional<kernel::Scope> scope_;
};

}  // namespace kw::shapes
