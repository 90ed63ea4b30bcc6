// Operations along one dim of one input that one pass computes together: values and places of a
// scan, a sort or a search. What makes them alike beyond that is their kind's business.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "emit/emit.h"

namespace kw::generate {

struct Siblings {
  std::set<graph::NodeId> nodes;
  const graph::Node* first = nullptr;
  graph::NodeId input = 0;

  size_t axis() const { return static_cast<size_t>(first->attrs.dims[0]); }
};

/// The region's heavy nodes; nothing where there are none, where one is not `alike` (asked of each,
/// with the first), has another input or other dims, or where their input needs one of them.
std::optional<Siblings> siblings_of(
    const Region& region,
    const std::function<bool(const graph::Node& first, const graph::Node& node)>& alike);

/// PARTS of a row of `length`, each PART long, a multiple of TILE, which is `tile`: so many that
/// the device is full with `groups` of rows.
void cut_rows(KernelBuilder& kernel, const std::string& length, const std::string& tile,
              const std::string& groups);

}  // namespace kw::generate
