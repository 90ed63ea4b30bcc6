// The loops of kernels that do more than one element at a time or read elements that lie elsewhere:
// text around what gpu_source.h writes for one element. No buffers are made here.
#pragma once

#include <string>

#include "graph/graph.h"
#include "oracle/moves.h"

namespace kw::oracle {

/// Lines that compute the element at position `p`, and the name it has then.
struct ElementText {
  std::string lines, name;
  bool integer = false;
};

inline constexpr int kGpuBlockThreads = 256;

/// Every element of a padded tensor: `which`, its value `y`, then `ending`. `fill` as device code.
std::string pad_loop(const graph::Node& node, const Extents& from, const ElementText& x,
                     const std::string& fill, const std::string& ending);

/// Every place windows are folded to: `which`, the Sum `own` and its spec `here`, then `ending`.
std::string fold_loop(const graph::Node& node, const FoldLayout& layout, const ElementText& x,
                      const std::string& ending);

struct ProductExtents {
  int64_t batches, rows, depth, columns;
};
/// Every element of a product: `which`, the Product `own`, then `ending`.
std::string product_loop(const ProductExtents& extents, const ElementText& left,
                         const ElementText& right, const std::string& ending);

}  // namespace kw::oracle
