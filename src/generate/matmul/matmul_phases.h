// Products whose rows come in phases, as those of a transposed convolution do: a phase has zeros
// for some of k's taps, and only some of the columns are stored. A block takes rows of one phase,
// so that it leaves both out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul_cuts.h"

namespace kw::generate {

/// What a phase leaves of an axis of k or of the columns: front <= rest + step * axis < end.
struct PhaseRange {
  Axis axis;
  Dim rest{0};
  int64_t step = 1;
  Dim front{0}, end{0};

  /// Nothing where the bound is not about one of the axes alone, or about the rows' channel.
  static std::optional<PhaseRange> of(const Bound& bound, const std::vector<Axis>& axes,
                                      const Axis& channel);
  /// The first number, and the first one beyond the last, are these, if positive, over `divisor()`.
  Dim first() const;
  Dim past() const;
  int64_t divisor() const { return step < 0 ? -step : step; }
  /// "k0_from", "k0_past", "k0_many".
  std::string own(const char* what) const { return axis.name + "_" + what; }
};

/// What is known of all phases.
struct Phases {
  std::vector<Axis> axes;  // of the rows; a block has one number of each
  std::vector<PhaseRange> k, columns;
  std::vector<Bound> alive;  // where one does not hold, all of k is zeros

  bool empty() const { return axes.empty(); }
  Dim count() const;
  /// Device code that finds the ranges in the block's phase, "k0_from", and whether there is any k,
  /// "alive".
  void write(Emitter& e, CudaWriter& w) const;
  /// What a phase has on average of a product's k and columns.
  Extents average(const Extents& whole) const;
};

}  // namespace kw::generate
