// Graph to graph, before anything is cut into kernels: a table of passes, each a free function that
// keeps what the graph means, and is checked by graph::verify afterwards.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

namespace kw::generate {

struct Pass {
  const char* name;
  const char* what;  // one line, for people
  graph::Graph (*run)(const graph::Graph&);
};

std::span<const Pass> passes();

/// All of them but the disabled ones; unknown names are input Errors.
Result<graph::Graph> run_passes(const graph::Graph& graph,
                                const std::vector<std::string>& disabled);

// fold.cpp: arithmetic on constants
graph::Graph fold_constants(const graph::Graph& graph);
// decompose.cpp: x^2 as x * x, division by a power of two as a product
graph::Graph decompose(const graph::Graph& graph);
// reciprocal.cpp: one division per row of a softmax
graph::Graph reciprocal(const graph::Graph& graph);
// top_one.cpp: the first of a top-k as a max
graph::Graph top_one(const graph::Graph& graph);
// turn_scan.cpp: a scan between two flips from the other end
graph::Graph turn_scan(const graph::Graph& graph);
// turn_products.cpp: a product that is turned, by its operands
graph::Graph turn_products(const graph::Graph& graph);
// unfold.cpp: transposed convolutions as convolutions
graph::Graph unfold(const graph::Graph& graph);
// disjoint.cpp: folds of windows side by side as movement
graph::Graph disjoint(const graph::Graph& graph);
// kept_signs.cpp: a comparison with a bound, of what was bounded
graph::Graph kept_signs(const graph::Graph& graph);
// short_places.cpp: places in windows as bytes
graph::Graph short_places(const graph::Graph& graph);
// late_casts.cpp: halves stay halves behind windows
graph::Graph late_casts(const graph::Graph& graph);

}  // namespace kw::generate
