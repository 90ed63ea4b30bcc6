// Relations that hold between calls of a reference, derived from its graph: rows may be permuted,
// batches split, inputs scaled, shifted or added. A relation says what the truth of other inputs
// is, so these checks do not rest on the oracle alone.
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
  Permute,  // f(P x) = P f(x) along a dim that nothing mixes
  Split,    // f of a part of the batch = that part of f
  Scale,    // f(4 x) = 4^d f(x)
  Shift,    // f(x + c) = f(x) + k c
  Linear,   // f(x) = f(x with some elements) + f(x with the others)
};

struct Relation {
  RelationKind kind = RelationKind::Permute;
  std::string what;              // "rows of B may be permuted"
  std::string dim;               // Split: the task's dim
  std::vector<int> input_axes;   // Permute, Split: per graph input the batch axis; -1: shared
  std::vector<int> output_axes;  // likewise per graph output
  int input = -1;                // Scale, Shift, Linear: the input that is changed
  std::vector<double> amounts;   // per graph output: Scale: d; Shift: k
};

/// Every relation the graph shows to hold.
std::vector<Relation> find_relations(const graph::Graph& graph);
/// Its parts: by rows, and by values.
std::vector<Relation> row_relations(const graph::Graph& graph);
std::vector<Relation> value_relations(const graph::Graph& graph);

/// Other inputs, and what the relation says about their outputs.
struct Changed {
  std::vector<tensor::HostTensor> inputs;
  std::vector<ports::Truth> truths;
  std::vector<tensor::HostTensor> before;  // Linear: a call to be made first; what it gives is
                                           // taken off the truths by subtract()
  int64_t extent = 0;                      // Split: of the batch dim now
};
/// Asks for the truths of given inputs.
using Truths =
    std::function<Result<std::vector<ports::Truth>>(const std::vector<tensor::HostTensor>&)>;

/// Nothing when the relation says nothing here: one row, values that leave the format's range.
Result<std::optional<Changed>> apply(const Relation& relation, const graph::Graph& graph,
                                     const std::vector<tensor::HostTensor>& inputs,
                                     const std::vector<ports::Truth>& truths, uint64_t seed,
                                     const Truths& truth_of);

/// Takes the outputs of the first call off the truths, and lets their rounding into the bounds.
void subtract(const std::vector<tensor::HostTensor>& outputs, std::vector<ports::Truth>* truths);

}  // namespace kw::gate
