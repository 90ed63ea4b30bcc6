// Relations between calls of a reference, derived from its graph: rows may be permuted, batches
// split, inputs scaled, shifted or added. A relation predicts the outputs for other inputs, so
// these checks do not depend on the oracle alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "ports/oracle.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

enum class RelationKind : uint8_t {
  Permute,  // f(P x) = P f(x) along a dim that no op mixes
  Split,    // f(part of the batch) = that part of f
  Scale,    // f(4 x) = 4^d f(x)
  Shift,    // f(x + c) = f(x) + k c
  Linear,   // f(x) = f(x with some elements) + f(x with the others)
};

struct Relation {
  RelationKind kind = RelationKind::Permute;
  std::string what;              // such as "rows of B may be permuted"
  std::string dim;               // Split: name of the task's dim
  std::vector<int> input_axes;   // Permute, Split: the batch axis per graph input; -1: none
  std::vector<int> output_axes;  // the same per graph output
  int input = -1;                // Scale, Shift, Linear: the input that is changed
  std::vector<double> amounts;   // per graph output: Scale: d; Shift: k
};

/// Returns all relations that follow from the graph.
std::vector<Relation> find_relations(const graph::Graph& graph);
/// The two parts of find_relations: relations of rows, and of values.
std::vector<Relation> row_relations(const graph::Graph& graph);
std::vector<Relation> value_relations(const graph::Graph& graph);

/// New inputs, and the outputs that the relation predicts.
struct Changed {
  std::vector<tensor::HostTensor> inputs;
  std::vector<ports::Truth> truths;
  std::vector<tensor::HostTensor> before;  // Linear: inputs of a first call; see subtract()
  int64_t extent = 0;                      // Split: new extent of the batch dim
};
/// Computes the truths of given inputs.
using Truths =
    std::function<Result<std::vector<ports::Truth>>(const std::vector<tensor::HostTensor>&)>;

/// Not set when the relation predicts nothing here: only one row, or values outside the format's
/// range.
Result<std::optional<Changed>> apply(const Relation& relation, const graph::Graph& graph,
                                     const std::vector<tensor::HostTensor>& inputs,
                                     const std::vector<ports::Truth>& truths, uint64_t seed,
                                     const Truths& truth_of);

/// Subtracts the outputs of the first call from the truths, and adds their rounding to the bounds.
/// Elements that overflow, or nearly do, in the whole or in a part may be anything: what overflow
/// gives does not add up.
void subtract(const std::vector<tensor::HostTensor>& outputs, std::vector<ports::Truth>* truths);

}  // namespace kw::gate
