// Products whose rows have phases, as in a transposed convolution. A phase has zeros for some taps
// of k, and only some of its columns are stored. A block takes rows of one phase and skips both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul_cuts.h"

namespace kw::generate {

/// The part of an axis of k or of the columns that a phase needs: front <= rest + step * axis <
/// end.
struct PhaseRange {
  Axis axis;
  Dim rest{0};
  int64_t step = 1;
  Dim front{0}, end{0};

  /// Empty if the bound depends on more than one of the axes, or on the rows' channel.
  static std::optional<PhaseRange> of(const Bound& bound, const std::vector<Axis>& axes,
                                      const Axis& channel);
  /// The first index and the index after the last are these, if positive, divided by `divisor()`.
  Dim first() const;
  Dim past() const;
  int64_t divisor() const { return step < 0 ? -step : step; }
  /// "k0_from", "k0_past", "k0_many".
  std::string own(const char* what) const { return axis.name + "_" + what; }
};

/// The facts about all phases.
struct Phases {
  std::vector<Axis> axes;  // of the rows; a block has one index of each
  std::vector<PhaseRange> k, columns;
  std::vector<Bound> alive;  // if one does not hold, all of k is zeros

  bool empty() const { return axes.empty(); }
  Dim count() const;
  /// Device code that finds the ranges of the block's phase, "k0_from", and whether any k is left,
  /// "alive".
  void write(Emitter& e, CudaWriter& w) const;
  /// The average extents of a phase's k and columns.
  ProductExtents average(const ProductExtents& whole) const;
};

}  // namespace kw::generate
