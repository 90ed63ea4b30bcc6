// Collects the findings of a run. The same kind at the same instruction is one finding with a
// count.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "record/finding.h"

namespace kw::vgpu {

using record::Certainty;
using record::FindingKind;

class FindingLog {
 public:
  /// True when the caller must build the finding and add() it: it is new, or what was a warning is
  /// certain now. False: it was counted, or the log is full.
  bool should_add(record::FindingKind kind, record::Certainty certainty, int launch, uint32_t pc);
  /// `origin_pc`: the load that read an undefined value, for prefer_races().
  void add(record::Finding finding, uint32_t pc, uint32_t origin_pc = ~0u);
  /// Notes that the instructions at both pcs took part in a race.
  void note_race(int launch, uint32_t pc, uint32_t other_pc);
  /// Removes undefined values that a race explains: the load ran before its writer. The race is the
  /// finding.
  void prefer_races();

  bool empty() const { return rows_.empty(); }
  bool full() const { return rows_.size() >= kMaxDistinct; }
  std::vector<record::Finding> take();

 private:
  static constexpr size_t kMaxDistinct = 64;
  struct Row {
    record::Finding finding;
    uint32_t origin_pc = ~0u;
  };
  std::vector<Row> rows_;
  std::map<std::tuple<record::FindingKind, int, uint32_t>, size_t> index_;
  std::set<std::pair<int, uint32_t>> raced_;  // launch, pc
};

}  // namespace kw::vgpu
