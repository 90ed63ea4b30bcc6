// What rules of the linter see and how they answer. One function per rule; lint.cpp has the table.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "lint/lint.h"
#include "ports/oracle.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::lint {

/// One draw of ordinary inputs at a shape, with the truths.
struct Sample {
  uint64_t seed = 0;
  std::vector<tensor::HostTensor> inputs;  // parallel to the graph's
  std::vector<ports::Truth> truths;
};

/// A shape of the task.
struct Case {
  task::Dims dims;
  graph::Graph graph;
  bool benchmark = false;
  std::vector<Sample> samples;
  std::string drawn = "ordinary inputs";  // what the samples are
};

struct Context {
  const task::Task& task;
  ports::Oracle& oracle;
  const Options& options;
  ports::TruthOptions truth;
};

using Findings = std::vector<Finding>;

// Each looks at one shape.
Status finite_outputs(Context& context, const Case& at, Findings* out);
Status output_range(Context& context, const Case& at, Findings* out);
Status seed_spread(Context& context, const Case& at, Findings* out);
Status axis_variation(Context& context, const Case& at, Findings* out);
Status constant_output(Context& context, const Case& at, Findings* out);
Status input_impact(Context& context, const Case& at, Findings* out);
Status inactive_ops(Context& context, const Case& at, Findings* out);
Status discontinuities(Context& context, const Case& at, Findings* out);
Status saturated_output(Context& context, const Case& at, Findings* out);
Status idle_work(Context& context, const Case& at, Findings* out);
Status constant_init(Context& context, const Case& at, Findings* out);
/// Says only what `out` does not say already.
Status hidden_ops(Context& context, const Case& at, Findings* out);

/// Looks at the shapes to be fast at, uncut; `at` is one of them as it was cut.
Status benchmark_scale(Context& context, const Case& at, Findings* out);

/// Part of what the reference wrote as one function: its origin is that name, not an expression.
bool composed(const graph::Node& node);
/// By node: inside of what the reference wrote as one function, not its end.
std::vector<bool> inside_ops(const graph::Graph& graph);
/// Which family of inputs a rule's draw number `turn` takes.
std::string family_for(const task::Task& task, int turn);
/// Adds a finding about a shape.
void report(const char* rule, Severity severity, const std::string& subject, std::string message,
            const Case& at, Findings* out);
/// "12.5 %".
std::string percent(double share);

}  // namespace kw::lint
