// The values that a row kernel keeps in registers between passes: packs of the row, and expensive
// values of its elements. The kernels for contiguous rows and for rows across memory share it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// A node at an index, the index as text: the same node has another value if a row is reversed.
using ElementOf = std::pair<NodeId, std::string>;

/// The usage shared by the passes over a row, found in a trial run.
struct PassUsage {
  std::map<std::string, std::set<size_t>> packs;  // address of a pack -> passes that use it
  std::map<ElementOf, std::set<size_t>> costly;   // value -> passes that compute it per element
};

class RegisterCache {
 public:
  /// `registers`: whether anything is kept. `usage` is from a trial run; without it every pack is
  /// kept and no value.
  RegisterCache(const Region& region, Emitter& emitter, bool registers, const PassUsage* usage)
      : region_(region), e_(emitter), registers_(registers), usage_(usage) {}

  /// Whether the pack is loaded before the first pass, for all passes.
  bool keeps(const Dim& address) const;
  /// Whether several passes read the pack.
  bool is_read_again(const Dim& address) const;
  /// Notes that a pass reads the pack.
  void note_load(const Dim& address, size_t pass) { seen_.packs[address.text()].insert(pass); }

  /// The element's value: the first pass that needs it computes it, later passes read it from
  /// registers. Empty if it is computed as usual. `scope` is the scope of single elements.
  std::optional<Value> value(NodeId id, const Index& index, int scope, size_t pass);

  /// "float kept[kItems][kVec];", one line per value.
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
