// What both programs here share: graphs worth a truth on a device, and how two truths are compared.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ports/oracle.h"
#include "tensor/inputs.h"
#include "truth/test_graph.h"

namespace kw::truth_tests {

struct Case {
  const char* name;
  /// One output from x[rows, columns] and a weight w[columns] of the same type.
  graph::NodeId (*build)(truth::TestGraph& g, graph::NodeId x, graph::NodeId w);
  enum class Place { Device, Either, Cpu } place = Place::Device;  // Either: near a step or not
  bool jumps = false;  // some element lies near a discontinuity
};
const std::vector<Case>& cases();

struct Made {
  graph::Graph graph;
  std::vector<tensor::HostTensor> inputs;
};
Made make(const Case& c, tensor::DType dtype, tensor::Family family, int64_t rows, int64_t columns);

/// "" when `got` says what `want` says: the same classes, values as close as fp64 lets another
/// order of the same sums be, errors within 1e-5; else the first element where it does not.
std::string difference(const ports::Truth& want, const ports::Truth& got);

}  // namespace kw::truth_tests
