// One pass over a graph: computes the whole nodes in order, frees values after their last use, and
// keeps the outputs.
#pragma once

#include "ports/oracle.h"
#include "truth/chunk_program.h"
#include "truth/reduce.h"

namespace kw::truth {

/// Returns the number of threads that the options request.
int thread_count(const ports::TruthOptions& options);

class Run {
 public:
  /// `overflow` says which results become infinite; null: none. It must outlive the run.
  Run(const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs,
      const ports::TruthOptions& options, Mode mode, const OverflowCase* overflow = nullptr);

  Status compute();

  const NodeFacts& facts(graph::NodeId node) const { return facts_[static_cast<size_t>(node)]; }
  /// Returns a whole node's value. After compute() only outputs and kept nodes are valid.
  Tensor& value(graph::NodeId node) { return values_[static_cast<size_t>(node)]; }
  /// Returns any node as a separate tensor: for outputs that are inputs, and for scores.
  Result<Tensor> copy(graph::NodeId node);
  /// Keeps a node until the end, like an output. Call it before compute().
  void keep(graph::NodeId node);
  const Findings& findings() const { return findings_; }
  int threads() const { return threads_; }
  /// Returns whether some op sums half rounding errors, which may all have the same sign.
  bool needs_half_pass() const { return truth::needs_half_pass(graph_, facts_); }

 private:
  Status check_inputs() const;
  Status compute_node(graph::NodeId node);
  Status fill(graph::NodeId node, Tensor& out);
  Status reserve(graph::NodeId node, uint64_t bytes);
  void release_after(graph::NodeId node);
  void copy_into(graph::NodeId node, bool fresh, Tensor& out);
  Sources sources();
  Workers workers_for(int64_t elements) const;

  const graph::Graph& graph_;
  const std::vector<tensor::HostTensor>& inputs_;
  const ports::TruthOptions& options_;
  Mode mode_;
  int threads_;
  std::vector<NodeFacts> facts_;
  Plan plan_;
  std::vector<Tensor> values_;
  std::vector<uint64_t> held_;  // bytes per node
  uint64_t held_bytes_ = 0;
  Findings findings_;
  const OverflowCase* overflow_;
};

/// Copies a program's result to the positions of a view.
void copy_program(const TruthProgram& program, const View& place, int threads, Tensor& out);

}  // namespace kw::truth
