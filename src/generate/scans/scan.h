// The scans of a region: what scan.cpp and scan_columns.cpp share.
#pragma once

#include <optional>
#include <set>

#include "emit/emit.h"
#include "scans/joining.h"
#include "scans/siblings.h"

namespace kw::generate {

/// One input, one way, perhaps values and places.
struct Scans : Siblings {
  Joining::Kind kind = Joining::Kind::Sum;
  bool places = false;
};

/// Nothing where the region is no scan with what can be done element by element before and after.
std::optional<Scans> scans_of(const Region& region);
/// Whether the node asks where the best one stands.
bool is_place(graph::Op op);
/// The truth of fp64 products is itself made one by one, and nothing is allowed beside it where
/// they leave the normal range.
bool needs_order(const Scans& scans);
/// What is carried from element to element.
Joining joining_of(const Region& region, const Scans& scans);
RowLoop loop_of(const Region& region, const Scans& scans);
/// The input as a value of the carried type.
std::string converted(const Region& region, const Scans& scans, const Joining& joining,
                      const Value& in);

// scan_chain.cpp: blocks that wait for what lies before them
/// Device code that looks back; `prefix`: of its name.
std::string chain_text(const Joining& joining, const std::string& prefix);
/// Hands the tile's total on, then waits for the carry; between the join of the block's threads and
/// the stores.
void write_chain_link(CudaWriter& w, const Joining& joining, const std::string& prefix);
/// Which part of which row is this block's; `tile`: a part's length.
void write_ticket(CudaWriter& w, const Joining& joining, const std::string& length,
                  const std::string& tile);

}  // namespace kw::generate
