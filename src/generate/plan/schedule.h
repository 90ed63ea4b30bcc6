// How regions become kernels: one row per schedule.
//
// To add a schedule: write its `applies` and `emit` in its own source. Return its row from a
// function `Schedules my_schedules()` that the module's schedules.h declares and lists. Put its
// name into kOrder (schedule.cpp), faster ones before slower ones.
// - `applies` must be cheap and certain. The partition uses it to decide whether two regions may
//   become one kernel, so a row that accepts "matmul + any pointwise epilogue" gets its epilogues
//   fused. region.stores are the values to compute, region.loads those already in memory;
//   interior(region) are the nodes between them. Dim::value() of an extent is its value at the
//   first benchmark shape.
// - `emit` uses an Emitter: open() scopes for your loops; value(node, index) writes statements and
//   returns expressions. on_load (register packs, shared tiles) and on_node (your reduction, scan
//   or product at an index) replace its default code. Use text(dim) for every index you print.
//   at(0).text() belongs at the top of the body. Index variables have the type `Index`.
// - KernelBuilder does the rest: function() gives a body its signature, tune() and method() make
//   plan lines, each_variant() asks for the launches of one instance. The last variant must be
//   correct for every shape: Dim 0 and 1, no divisibility, more than 2^31 elements.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// In the order of preference; the last one always applies.
std::span<const Schedule> schedules();
/// The row of that name, or nullptr.
const Schedule* find_schedule(const std::string& name);
/// All schedules that apply, the best guess first. Never empty for a region with one store whose
/// only heavy node, if any, is the stored one.
std::vector<const Schedule*> schedules_for(const Region& region, const TargetContext& context);

}  // namespace kw::generate
