// The scans of a region; scan.cpp and scan_columns.cpp share it.
#pragma once

#include <optional>

#include "emit/emit.h"
#include "scans/joining.h"
#include "scans/siblings.h"

namespace kw::generate {

/// Scans of one input in one direction; values, positions or both.
struct Scans : Siblings {
  Joining::Kind kind = Joining::Kind::Sum;
  bool places = false;
};

/// Empty if the region is not a scan with element-wise work before and after it.
std::optional<Scans> scans_of(const Region& region);
/// Whether products must be computed in order. The truth of fp64 products is computed in order, and
/// no other result is allowed when they leave the normal range.
bool needs_order(const Scans& scans);
/// The state carried from element to element.
Joining joining_of(const Region& region, const Scans& scans);
RowLoop loop_of(const Region& region, const Scans& scans);
/// The input converted to the type of the state.
std::string converted(const Region& region, const Scans& scans, const Joining& joining,
                      const Value& in);

/// The result of a scan, from the state `now`; empty for other nodes.
std::optional<Value> scanned(const Region& region, const Scans& scans, const Joining& joining,
                             NodeId id, int level);

// scan_chain.cpp: blocks that wait for the blocks before them
/// Device code that looks back; `prefix` starts its name.
std::string chain_text(const Joining& joining, const std::string& prefix);
/// Publishes the tile's total, then waits for the carry. Belongs between the combining of the
/// block's threads and the stores.
void write_chain_link(CudaWriter& w, const Joining& joining, const std::string& prefix);
/// Writes which part of which row the block has; `tile` is the length of a part.
void write_ticket(CudaWriter& w, const Joining& joining, const std::string& length,
                  const std::string& tile);

}  // namespace kw::generate
