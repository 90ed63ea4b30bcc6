#include "ptx/symbols.h"

#include <charconv>

namespace kw::ptx {

void BodyScopes::open() {
  Scope scope;
  scope.parent = current_;
  scope.depth = current_ < 0 ? 0 : scopes_[current_].depth + 1;
  current_ = static_cast<int>(scopes_.size());
  scopes_.push_back(std::move(scope));
}

bool BodyScopes::declare(std::string_view name, const Symbol& symbol) {
  return scopes_[current_].names.emplace(name, symbol).second;
}

bool BodyScopes::declare_range(std::string_view prefix, int64_t count, Type type) {
  return scopes_[current_].ranges.emplace(prefix, Range{count, type}).second;
}

bool BodyScopes::declare_label(std::string_view name, int label) {
  return scopes_[current_].labels.emplace(name, label).second;
}

Symbol* BodyScopes::find_in_range(Scope& scope, std::string_view name) {
  if (scope.ranges.empty()) return nullptr;
  // "%r12" may be number 12 of %r<…> or number 2 of %r1<…>; numbers have no leading zeros.
  for (size_t start = name.size(); start-- > 0 && name[start] >= '0' && name[start] <= '9';) {
    if (name[start] == '0' && start + 1 != name.size()) continue;
    const auto range = scope.ranges.find(name.substr(0, start));
    if (range == scope.ranges.end()) continue;
    int64_t number = 0;
    const auto parsed = std::from_chars(name.data() + start, name.data() + name.size(), number);
    if (parsed.ec != std::errc() || number >= range->second.count) continue;
    const Symbol symbol{Symbol::Kind::Register, -1, range->second.type};
    return &scope.names.emplace(name, symbol).first->second;
  }
  return nullptr;
}

const Symbol* BodyScopes::find(std::string_view name) {
  for (int at = current_; at >= 0; at = scopes_[at].parent) {
    Scope& scope = scopes_[at];
    const auto exact = scope.names.find(name);
    Symbol* symbol = exact != scope.names.end() ? &exact->second : find_in_range(scope, name);
    if (symbol == nullptr) continue;
    if (symbol->kind == Symbol::Kind::Register && symbol->index < 0) {
      symbol->index = static_cast<int>(registers_.size());
      registers_.push_back({std::string(name), symbol->type});
    }
    return symbol;
  }
  return nullptr;
}

int BodyScopes::find_label(std::string_view name, int scope) const {
  for (int at = scope; at >= 0; at = scopes_[at].parent) {
    const auto found = scopes_[at].labels.find(name);
    if (found != scopes_[at].labels.end()) return found->second;
  }
  return -1;
}

}  // namespace kw::ptx
