// The loops of kernels that do more than one element at a time or read elements that lie elsewhere:
// text around what gpu_source.h writes for one element. No buffers are made here.
#pragma once

#include <string>

#include "graph/graph.h"
#include "truth/moves.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

/// Lines that compute the element at position `p`, and the names it has then.
struct ElementText {
  std::string lines;
  ElementName name;
  bool integer = false;
  bool jumps() const { return !name.jump.empty(); }
  /// As a reduction takes it: "x" or "x, j".
  std::string given() const { return jumps() ? name.value + ", " + name.jump : name.value; }
};

inline constexpr int kGpuBlockThreads = 256;

/// Every element of a padded tensor: `which`, its value `y` and jump `j`, then `ending`. `fill` as
/// device code.
std::string pad_loop(const graph::Node& node, const truth::Extents& from, const ElementText& x,
                     const std::string& fill, const std::string& ending);

/// Every place windows are folded to: `which`, the sum `own` and its spec `here`, then `ending`.
std::string fold_loop(const graph::Node& node, const truth::FoldLayout& layout,
                      const ElementText& x, const std::string& ending);

struct ProductExtents {
  int64_t batches, rows, depth, columns;
};
/// Every element of a product: `which`, the product `own`, then `ending`.
std::string product_loop(const ProductExtents& extents, const ElementText& left,
                         const ElementText& right, const std::string& ending);

/// Which elements a result is picked from: the index's own position and where the picked line
/// begins, both by the result's position `p`; `extent` elements of the line, `stride` apart.
struct Picked {
  std::string index_at, base;
  int64_t extent = 0, stride = 1;
};
/// `count` results: `which`, the element `y` of `from` and its jump `j`, then `ending`.
std::string pick_loop(int64_t count, const Picked& picked, const ElementText& index,
                      const ElementText& from, const std::string& ending);

/// Every line of `length` elements: `line`, the index of its best and its jump as `best`, then
/// `ending`.
std::string best_loop(int64_t lines, int64_t length, bool largest, const ElementText& x,
                      const std::string& ending);

}  // namespace kw::truth_gpu
