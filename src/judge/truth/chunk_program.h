// A node as a list of instructions over chunks: loads through views, then pointwise ops. Built once
// per whole node; every worker runs it on its own registers.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "truth/evaluation_plan.h"
#include "truth/facts.h"
#include "truth/pointwise.h"

namespace kw::truth {

/// The data that a program may read.
struct Sources {
  const graph::Graph& graph;
  const std::vector<NodeFacts>& facts;
  const Plan& plan;
  const std::vector<tensor::HostTensor>& inputs;
  const std::vector<Tensor>& values;  // per node; set for whole nodes computed so far
  Mode mode = Mode::Truth;
  bool flush = false;
  Findings& findings;
  const OverflowCase* overflow = nullptr;  // null: nothing overflows

  /// Of a node that rounds.
  NodeRange range_of(graph::NodeId node) const;
};

struct Instruction {
  enum class Kind : uint8_t { Input, Value, Iota, Constant, Point } kind = Kind::Point;
  int out = 0;  // register index
  int in[3] = {};
  int operands = 0;
  Tracks in_tracks[3];
  PointSpec spec;                             // Point
  View view;                                  // Input, Value, Iota; coalesced
  const tensor::HostTensor* input = nullptr;  // Input
  const Tensor* value = nullptr;              // Value
  Tracks tracks;                              // of the result
  tensor::DType dtype = tensor::DType::Fp32;
  double number = 0, error = 0;  // Constant
  int64_t integer = 0;
};

struct TruthProgram {
  std::vector<Instruction> constants, body;
  int registers = 0, result = 0;
  Tracks tracks;
  tensor::DType dtype = tensor::DType::Fp32;
  int64_t count = 0;
};

/// Returns a program for the node's value, with its dims permuted by `order` (empty: unchanged). A
/// whole node is only loaded, unless `fresh`.
TruthProgram make_program(const Sources& sources, graph::NodeId node, const std::vector<int>& order,
                          bool fresh);

/// Returns the number of positions after which the result repeats; the program's count if it does
/// not.
int64_t period_of(const TruthProgram& program);

/// The registers of one worker for one program.
class TruthRunner {
 public:
  explicit TruthRunner(const TruthProgram& program);
  /// Computes positions start … start + count; valid until the next call.
  const VectorLanes& at(int64_t start, int count);

 private:
  void run(const Instruction& instruction, int64_t start, int count);
  const TruthProgram& program_;
  std::unique_ptr<VectorLanes[]> registers_;
};

}  // namespace kw::truth
