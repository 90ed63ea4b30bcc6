// Passes from graph to graph, before the partition. Each is a free function in a table and keeps
// the meaning of the graph; graph::verify checks the result.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "text/graph_names.h"

namespace kw::generate {

struct Pass {
  const char* name;
  const char* what;  // one line, for users
  Graph (*run)(const Graph&);
};

std::span<const Pass> passes();

/// Runs all passes except the disabled ones; unknown names are input Errors.
Result<Graph> run_passes(const Graph& graph, const std::vector<std::string>& disabled);

// fold.cpp: arithmetic on constants
Graph fold_constants(const Graph& graph);
// decompose.cpp: x^2 as x * x, division by a power of two as a product
Graph decompose(const Graph& graph);
// reciprocal.cpp: one division per row of a softmax
Graph reciprocal(const Graph& graph);
// top_one.cpp: the first of a top-k becomes a max
Graph top_one(const Graph& graph);
// turn_scan.cpp: a scan between two flips becomes a reverse scan
Graph turn_scan(const Graph& graph);
// turn_products.cpp: a transposed product becomes a product of exchanged operands
Graph turn_products(const Graph& graph);
// unfold.cpp: transposed convolutions become convolutions
Graph unfold(const Graph& graph);
// disjoint.cpp: folds of adjacent windows become movement
Graph disjoint(const Graph& graph);
// kept_signs.cpp: comparisons with a bound use the bounded value
Graph kept_signs(const Graph& graph);
// short_places.cpp: positions in windows become bytes
Graph short_places(const Graph& graph);
// late_casts.cpp: halves stay halves through windows
Graph late_casts(const Graph& graph);

}  // namespace kw::generate
