// What a kernel of a row program keeps in registers from one pass to the next: packs of the row,
// and values of its elements that cost much. Shared by the kernels of rows along and across memory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// A node at an index, the latter as text: the same node is another value where a row is turned
/// round.
using ElementOf = std::pair<graph::NodeId, std::string>;

/// What the passes over a row have in common, found in a first run.
struct PassUsage {
  std::map<std::string, std::set<size_t>> packs;  // address of a pack -> passes that use it
  std::map<ElementOf, std::set<size_t>> costly;   // value -> passes that compute it per element
};

class RegisterCache {
 public:
  /// `registers`: whether anything is kept at all. `usage`: of an earlier run, without which every
  /// pack is kept and no value.
  RegisterCache(const Region& region, Emitter& emitter, bool registers, const PassUsage* usage)
      : region_(region), e_(emitter), registers_(registers), usage_(usage) {}

  /// Whether the pack is loaded before the first pass, for all of them.
  bool keeps(const Dim& address) const;
  /// Whether several passes read the pack.
  bool is_read_again(const Dim& address) const;
  /// Notes that a pass reads the pack.
  void saw(const Dim& address, size_t pass) { seen_.packs[address.text()].insert(pass); }

  /// The element's value: computed in the first pass that needs it, found in registers by the
  /// others. Nothing where it is computed as usual. `scope`: of single elements.
  std::optional<Value> value(graph::NodeId id, const Index& index, int scope, size_t pass);

  /// "float kept[kItems][kVec];", one for each value.
  std::vector<std::string> declarations() const;
  const PassUsage& seen() const { return seen_; }

 private:
  const Region& region_;
  Emitter& e_;
  bool registers_;
  const PassUsage* usage_;
  PassUsage seen_;
  std::map<ElementOf, std::string> names_;
  bool busy_ = false;  // a value inside a kept one is not kept itself
};

}  // namespace kw::generate
