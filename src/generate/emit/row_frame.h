// What schedules share that read rows along one dim in packs: the loop, the emitter, the scopes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emit/packs.h"
#include "emit/row_loop.h"
#include "emit/schedule_row.h"

namespace kw::generate {

class RowFrame : protected ScheduleFrame {
 protected:
  /// `column` is the variable of a pack's position in memory.
  RowFrame(const Region& region, const TargetContext& context, RowLoop loop,
           const char* column = "column")
      : ScheduleFrame(region, context),
        loop_(std::move(loop)),
        e_(region, 1),
        packs_(e_, column),
        in_memory_(loop_.rename(variable(column))) {
    e_.ranges = loop_.ranges();
    e_.rename = loop_.rename(variable(column) + variable(kLane));
  }

  /// Opens the scope of a row, whose loads are packs.
  void open_row();
  /// Opens the scopes of a pack, `deeper` levels below the row, and of an element of it.
  void open_pack(int deeper, const std::vector<std::string>& variables = {"column"});

  RowLoop loop_;
  Emitter e_;
  Packs packs_;
  Renames in_memory_;  // of the domain's variables, for the first element of a pack
  int lane_scope_ = 0;
  std::string length_, rows_, lane_text_, pack_text_, row_text_;
};

}  // namespace kw::generate
