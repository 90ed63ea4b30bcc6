#include "rows/register_cache.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::generate {

namespace {

constexpr size_t kMostKept = 2;  // number of values: more would spill

std::string index_text(const Index& index) {
  std::string text;
  for (const Dim& dim : index) text += dim.text() + ", ";
  return text;
}

}  // namespace

bool RegisterCache::keeps(const Dim& address) const {
  if (!registers_ || usage_ == nullptr) return registers_;
  const auto found = usage_->packs.find(address.text());
  return found != usage_->packs.end() && (found->second.size() > 1 || found->second.count(0) > 0);
}

bool RegisterCache::is_read_again(const Dim& address) const {
  if (usage_ == nullptr) return false;
  const auto found = usage_->packs.find(address.text());
  return found != usage_->packs.end() && found->second.size() > 1;
}

std::optional<Value> RegisterCache::value(NodeId id, const Index& index, int scope, size_t pass) {
  if (!graph::op_info(region_.node(id).op).costly || region_.loads.count(id) > 0)
    return std::nullopt;
  int level = 0;
  for (const Dim& dim : index) level = std::max(level, e_.level_of(dim));
  if (level != scope || scope == 0) return std::nullopt;
  const ElementOf element{id, index_text(index)};
  seen_.costly[element].insert(pass);
  if (!registers_ || usage_ == nullptr) return std::nullopt;
  const auto known_use = usage_->costly.find(element);
  const bool again = known_use != usage_->costly.end() && known_use->second.size() > 1;
  if (!again) return std::nullopt;
  const auto known = names_.find(element);
  if (known != names_.end()) return Value{{known->second + "[item][lane]"}, scope};
  if (busy_ || names_.size() >= kMostKept) return std::nullopt;
  busy_ = true;
  Value value = e_.plain(id, index);
  busy_ = false;
  const std::string name = e_.fresh("kept");
  names_[element] = name;
  value = e_.bound({value.expr, scope}, region_.node(id).dtype,
                   std::string(graph::op_info(region_.node(id).op).name) + "_value");
  e_.at(scope).line("{}[item][lane] = {};", name, value.expr.text);
  return value;
}

std::vector<std::string> RegisterCache::declarations() const {
  std::vector<std::string> lines;
  for (const auto& [element, name] : names_) {
    const char* type = register_type(region_.node(element.first).dtype);
    lines.push_back(fmt::format("{} {}[kItems][kVec];", type, name));
  }
  return lines;
}

}  // namespace kw::generate
