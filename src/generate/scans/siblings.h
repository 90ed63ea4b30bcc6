// Operations along one dim of one input that one pass computes together: values and positions of a
// scan, a sort or a search. Each kind adds its own conditions.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "emit/emit.h"

namespace kw::generate {

struct Siblings {
  std::set<NodeId> nodes;
  const Node* first = nullptr;
  NodeId input = 0;

  size_t axis() const { return static_cast<size_t>(first->attrs.dims[0]); }
};

/// The region's heavy nodes. Empty if there are none, or if their input depends on one of them.
/// Also empty if one is not `alike` (called for each, with the first), or has another input or
/// other dims.
std::optional<Siblings> siblings_of(
    const Region& region, const std::function<bool(const Node& first, const Node& node)>& alike);

/// Divides a row of `length` into PARTS of length PART, a multiple of TILE, which is `tile`. With
/// `groups` of rows the parts fill the device.
void cut_rows(KernelBuilder& kernel, const std::string& length, const std::string& tile,
              const std::string& groups);
/// The part of a row that the block has: `row`, `part`, `begin` and `end`.
void write_part(CudaWriter& w, const std::string& length);

/// Stores the results of a row in the scope `level`; `row` is their index in `shape`. False if a
/// store has another number of elements than `shape`.
bool store_results(Emitter& e, int level, const Shape& shape, const Index& row);

}  // namespace kw::generate
