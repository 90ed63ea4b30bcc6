// The interface of the linter's rules: what each rule is given and how it reports. One function per
// rule; lint.cpp has the table.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "lint/lint.h"
#include "ports/oracle.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::lint {

/// One draw of inputs at a shape, with the truths.
struct Sample {
  uint64_t seed = 0;
  std::vector<tensor::HostTensor> inputs;  // parallel to the graph's inputs
  std::vector<ports::Truth> truths;
};

/// A shape of the task, with its samples.
struct LintCase {
  task::Dims dims;
  graph::Graph graph;
  bool benchmark = false;
  std::vector<Sample> samples;
  std::string drawn = "ordinary inputs";  // describes the samples, for messages
  bool first = false;                     // the first shape of the task
};

struct LintContext {
  const task::Task& task;
  ports::Oracle& oracle;
  const LintOptions& options;
  ports::TruthOptions truth;
};

using Findings = std::vector<Finding>;

// Each rule examines one shape.
Status finite_outputs(LintContext& context, const LintCase& at, Findings* out);
Status output_range(LintContext& context, const LintCase& at, Findings* out);
Status seed_spread(LintContext& context, const LintCase& at, Findings* out);
Status axis_variation(LintContext& context, const LintCase& at, Findings* out);
Status constant_output(LintContext& context, const LintCase& at, Findings* out);
Status input_impact(LintContext& context, const LintCase& at, Findings* out);
Status inactive_ops(LintContext& context, const LintCase& at, Findings* out);
Status discontinuities(LintContext& context, const LintCase& at, Findings* out);
Status overflow(LintContext& context, const LintCase& at, Findings* out);
Status saturated_output(LintContext& context, const LintCase& at, Findings* out);
Status idle_work(LintContext& context, const LintCase& at, Findings* out);
Status constant_init(LintContext& context, const LintCase& at, Findings* out);
/// Adds only findings that `out` does not have already.
Status hidden_ops(LintContext& context, const LintCase& at, Findings* out);

/// Examines the benchmark shapes in full size; `at` is one of them, cut.
Status benchmark_scale(LintContext& context, const LintCase& at, Findings* out);

/// Returns whether a node is part of one function call of the reference. Its origin is then a
/// function name, not an expression.
bool composed(const graph::Node& node);
/// By node: whether it is part of one function call of the reference, but not its last op.
std::vector<bool> inside_ops(const graph::Graph& graph);
/// Returns the input family for a rule's draw number `turn`.
std::string family_for(const task::Task& task, int turn);
/// Adds a finding about one shape.
void report(const char* rule, Severity severity, const std::string& subject, std::string message,
            const LintCase& at, Findings* out);
/// Formats a share such as "12.5 %".
std::string percent(double share);

}  // namespace kw::lint
