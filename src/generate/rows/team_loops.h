// The threads that share a row, and the loops by which they visit rows and columns.
#pragma once

#include <functional>
#include <string>

#include "emit/emit.h"
#include "rows/row_plan.h"

namespace kw::generate {

/// The threads that share a row: a block, a few lanes of a warp, or several blocks with a part
/// each.
enum class Team : uint8_t { Block, Lanes, Split };

class TeamLoops {
 public:
  /// `registers`: the row is read once and kept, otherwise every pass reads it.
  TeamLoops(const Region& region, const RowPlan& plan, Team team, bool registers, Emitter& emitter);

  /// The number of threads that share a row, as a tunable.
  std::string threads() const;
  bool is_lanes() const { return team_ == Team::Lanes; }
  bool is_split() const { return team_ == Team::Split; }
  /// Whether the row's statements are inside a loop over rows.
  bool nested() const { return turns || (!registers_ && !is_split()); }

  /// Writes the loop over the rows around `values`. `shares`: they use shared memory.
  void write_rows(CudaWriter& w, const std::string& values, bool shares);
  /// Writes the loop over this thread's packs of the row.
  void write_columns(CudaWriter& w, const std::string& condition,
                     const std::function<void()>& inside);

  Joined rows, columns;
  bool turns = false;  // lanes take several rows, with all their loads in flight
  size_t only = 0;     // the pass of a split row that is written

 private:
  std::string tuned(const char* name) const;
  void write_block_rows(CudaWriter& w, const std::string& values, bool shares);
  void write_split_row(CudaWriter& w, const std::string& values);
  void write_lanes_rows(CudaWriter& w, const std::string& values);
  void write_own_row(CudaWriter& w, const std::string& values);

  const Region& region_;
  const RowPlan& plan_;
  Team team_;
  bool registers_;
  Emitter& e_;
};

}  // namespace kw::generate
