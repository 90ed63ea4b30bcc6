// Writes the loops of kernels that reduce several elements or read elements at other positions.
// gpu_source.h writes the text for one element. No buffers are created here.
#pragma once

#include <string>

#include "graph/graph.h"
#include "truth/moves.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

/// Lines that compute the element at position `p`, and the names they define.
struct ElementText {
  std::string lines;
  ElementName name;
  bool integer = false;
  bool jumps() const { return !name.jump.empty(); }
  /// The arguments for a reduction: "x" or "x, j".
  std::string given() const { return jumps() ? name.value + ", " + name.jump : name.value; }
};

inline constexpr int kGpuBlockThreads = 256;

/// Visits every element of a padded tensor: defines `which`, the value `y` and the jump `j`, then
/// appends `ending`. `fill` is device code.
std::string pad_loop(const graph::Node& node, const truth::Extents& from, const ElementText& x,
                     const std::string& fill, const std::string& ending);

/// Visits every position that windows are added to: defines `which`, the sum `own` and its spec
/// `here`, then appends `ending`.
std::string fold_loop(const graph::Node& node, const truth::FoldLayout& layout,
                      const ElementText& x, const std::string& ending);

struct ProductExtents {
  int64_t batches, rows, depth, columns;
};
/// Visits every element of a matrix product: defines `which` and the product `own`, then appends
/// `ending`.
std::string product_loop(const ProductExtents& extents, const ElementText& left,
                         const ElementText& right, const std::string& ending);

/// Positions for a gather, as functions of the result's position `p`: the index's position and the
/// start of the line it selects from. The line has `extent` elements, `stride` apart.
struct Picked {
  std::string index_at, base;
  int64_t extent = 0, stride = 1;
};
/// Visits `count` results: defines `which`, the element `y` of `from` and its jump `j`, then
/// appends `ending`.
std::string pick_loop(int64_t count, const Picked& picked, const ElementText& index,
                      const ElementText& from, const std::string& ending);

/// Visits every line of `length` elements: defines `line` and `best` (index of the best element and
/// its jump), then appends `ending`.
std::string best_loop(int64_t lines, int64_t length, bool largest, const ElementText& x,
                      const std::string& ending);

}  // namespace kw::truth_gpu
