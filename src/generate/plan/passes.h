// Passes from graph to graph, before the partition. Each is a free function in a table and keeps
// the meaning of the graph; graph::verify checks the result.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

namespace kw::generate {

struct Pass {
  const char* name;
  const char* what;  // one line, for users
  graph::Graph (*run)(const graph::Graph&);
};

std::span<const Pass> passes();

/// Runs all passes except the disabled ones; unknown names are input Errors.
Result<graph::Graph> run_passes(const graph::Graph& graph,
                                const std::vector<std::string>& disabled);

// fold.cpp: arithmetic on constants
graph::Graph fold_constants(const graph::Graph& graph);
// decompose.cpp: x^2 as x * x, division by a power of two as a product
graph::Graph decompose(const graph::Graph& graph);
// reciprocal.cpp: one division per row of a softmax
graph::Graph reciprocal(const graph::Graph& graph);
// top_one.cpp: the first of a top-k becomes a max
graph::Graph top_one(const graph::Graph& graph);
// turn_scan.cpp: a scan between two flips becomes a reverse scan
graph::Graph turn_scan(const graph::Graph& graph);
// turn_products.cpp: a transposed product becomes a product of exchanged operands
graph::Graph turn_products(const graph::Graph& graph);
// unfold.cpp: transposed convolutions become convolutions
graph::Graph unfold(const graph::Graph& graph);
// disjoint.cpp: folds of adjacent windows become movement
graph::Graph disjoint(const graph::Graph& graph);
// kept_signs.cpp: comparisons with a bound use the bounded value
graph::Graph kept_signs(const graph::Graph& graph);
// short_places.cpp: positions in windows become bytes
graph::Graph short_places(const graph::Graph& graph);
// late_casts.cpp: halves stay halves through windows
graph::Graph late_casts(const graph::Graph& graph);

}  // namespace kw::generate
