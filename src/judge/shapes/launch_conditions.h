// Predicates of compiled code that follow from the launch alone, as the code computes them: with
// remainders by multiplication, roots, bits. They can be evaluated at thousands of shapes without a
// run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/module.h"
#include "ptx/ptx_module.h"
#include "shapes/plan_view.h"

namespace kw::shapes {

/// Of one kernel: they are met by twos and threes.
inline constexpr size_t kMostPredicates = 24;

/// The predicates of one kernel, launched as one launch line says.
class LaunchConditions {
 public:
  LaunchConditions(const ptx::Function& kernel, const kernel::LaunchDecl& launch);

  size_t count() const { return predicates_.size(); }
  /// What one evaluation takes.
  size_t instructions() const { return steps_.size(); }
  /// Which of them hold where the plan's names have these values. Not set: it has no value.
  std::vector<std::optional<bool>> at(const kernel::Scope& scope) const;

 private:
  friend class ConditionReader;
  struct Source {
    int step = -1;  // of steps_; -1: a constant
    uint64_t bits = 0;
  };
  struct Step {
    std::optional<kernel::Expr> expr;  // of the plan; not set: an instruction
    ptx::Instruction instruction;
    std::vector<Source> sources;
  };
  using Value = std::optional<uint64_t>;
  static Value computed(const ptx::Instruction& in, const std::vector<Value>& from);

  std::vector<Step> steps_;  // each after those that it reads
  std::vector<int> predicates_;
};

/// Small shapes that show what the known ones do not: each condition both ways, each two and, if
/// they are few, each three of them in every combination. `known`: shapes that run anyway.
std::vector<task::Dims> condition_shapes(const PlanView& view,
                                         const std::vector<LaunchConditions>& kernels, int group,
                                         const std::vector<task::Dims>& known, uint64_t secret);

}  // namespace kw::shapes
