// How regions become kernels: one row per schedule.
//
// Plugging in a schedule: write `bool my_applies(const Region&, const TargetContext&)` and
// `Kernel my_emit(const Region&, const TargetContext&)` in a file of your own, declare them in
// the folder's schedules.h and add a row to kSchedules (schedule.cpp), faster ones before slower
// ones.
//  - `applies` must be cheap and certain: the partition asks it whether two regions may become one
//    kernel, so a row that accepts "matmul + any pointwise epilogue" gets its epilogues fused.
//    region.stores are what to compute, region.loads what is in memory already; interior(region)
//    is what lies between. Dim::value() of any extent is its value at the first benchmark shape.
//  - `emit` uses an Emitter: open() scopes for your loops, value(node, index) writes statements and
//    gives expressions; on_load (register packs, shared tiles) and on_node (your reduction, scan or
//    product at an index) replace what it would do. text(dim) for every index you print.
//    signature_of() makes the parameter list from what was used. at(0).text() belongs at the top of
//    the body. Index variables are of the template type `Index`.
//  - `variants`: fastest first, each with its guard, the last one right for every shape ("" guard):
//    Dim 0 and 1, no divisibility, more than 2^31 elements (instantiate with `long long`).
//  - tunables: name + region.suffix; a method line for every optimisation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

struct Schedule {
  const char* name;
  const char* what;  // one line, for people
  bool (*applies)(const Region&, const TargetContext&);
  Kernel (*emit)(const Region&, const TargetContext&);
  bool fuses;  // whether regions may be joined because this row applies
  /// Where it is likely to be the best; such rows come first. nullptr: nowhere in particular.
  bool (*prefers)(const Region&, const TargetContext&) = nullptr;
};

/// In the order of preference; the last one is the floor.
std::span<const Schedule> schedules();
/// The row of that name, or nullptr.
const Schedule* find_schedule(const std::string& name);
/// All that apply, the best guess first. Never empty for a region with one store whose only heavy
/// node, if any, is that one.
std::vector<const Schedule*> schedules_for(const Region& region, const TargetContext& context);

}  // namespace kw::generate
