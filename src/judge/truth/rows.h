// Ops along one dim: scans, sorts, top-k, argmax. One worker reads each line along the dim
// completely and in order.
#pragma once

#include "truth/chunk_program.h"
#include "truth/reduce.h"

namespace kw::truth {

/// CumSum … CumLogSumExp, ArgMax, ArgMin, SortValues … TopKIndices. Fills `out`, which has the
/// node's shape and tracks.
void walk_rows(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// One line along the dim.
struct Row {
  Tracks tracks;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<double> t, a, h, lo, hi;
  std::vector<int64_t> i;
  bool jumps = false;

  void resize(size_t length);
  size_t size() const { return tracks.integer ? i.size() : t.size(); }
  double value(size_t k) const;
  /// Returns the largest distance of the element from its value: 4 a + h + its jump.
  double reach(size_t k) const;
  void set_jump(size_t k, double low, double high);
};

/// The properties that a row op needs besides the row.
struct RowTask {
  const graph::Node& node;
  Rounding rounding;  // without limits
  Mode mode = Mode::Truth;
  NodeRange range;
  uint8_t* beyond = nullptr;  // bits of Beyond found in the row
};

void scan_row(const RowTask& task, const Row& in, Row& out);
void rank_row(const RowTask& task, const Row& in, Row& out);  // argmax, cummax index, sort, top-k

}  // namespace kw::truth
