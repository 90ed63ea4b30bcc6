// Names of the file's own: variables of functions, constants at file level, enumerators.
#include "cuda_import/reader_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cuda_import/kept_values.h"
#include "cuda_import/reader_expressions.h"

namespace kw::cuda_import {
namespace {

const cuda_source::Token& variable_token(const HostState& host, const Item& item,
                                         const std::string& name) {
  for (size_t at = item.first; at < item.last; ++at) {
    if (host.source.tokens[at].is(name)) return host.source.tokens[at];
  }
  return host.source.tokens[item.first];
}

/// Several constants of one name, as in two namespaces: choosing among them needs a compiler.
void check_single(HostState& host, const std::string& name) {
  size_t found = host.enumerators.count(name);
  const Item* last = nullptr;
  for (const Item& one : host.source.outline.items) {
    if (one.kind != Item::Kind::Variable || last_name(one.name) != name) continue;
    ++found;
    last = &one;
  }
  if (found > 1 && last != nullptr)
    host.problem(host.source.tokens[last->first],
                 fmt::format("there are several constants '{}'", name), "give each its own name");
}

bool find_global(HostState& host, const std::string& name) {
  check_single(host, name);
  if (const auto at = host.enumerators.find(name); at != host.enumerators.end()) {
    host.slots.push_back({at->second, name, {}});
    host.scopes[0][name] = host.slots.size() - 1;
    return true;
  }
  const auto item = std::ranges::find_if(host.source.outline.items, [&](const Item& one) {
    return one.kind == Item::Kind::Variable && last_name(one.name) == name;
  });
  if (item == host.source.outline.items.end() || !host.evaluating.insert(name).second) return false;
  size_t at = item->first;
  const auto type = read_type(host.source.tokens, at, item->last, host.source.types);
  Slot slot{{}, name, type.value_or(CType{})};
  if (item->body_last > item->body_first) {
    const size_t code = host.code_of(item->body_first, item->body_last);
    const auto saved = std::tuple(host.code, host.at, host.end);
    host.code = code;
    slot.value = evaluate(host, {0, host.codes[code].size()});
    std::tie(host.code, host.at, host.end) = saved;
    slot.value = converted(host, slot.value, slot.type, host.source.tokens[item->first]);
    slot.value.slot = HostValue::kNoSlot;
  } else if (slot.type.pointers > 0) {
    slot.value.kind = HostValue::Kind::Pointer;
  }
  if (slot.type.pointers > 0) slot.value.type = slot.type;
  slot.type.kept = true;
  if (!item->on_device) check_kept(host, slot.type, slot.value, variable_token(host, *item, name));
  host.evaluating.erase(name);
  host.slots.push_back(std::move(slot));
  host.scopes[0][name] = host.slots.size() - 1;
  return true;
}

}  // namespace

size_t find_variable(HostState& host, const std::string& name) {
  for (size_t i = host.scopes.size(); i > host.frame; --i) {
    const auto at = host.scopes[i - 1].find(name);
    if (at != host.scopes[i - 1].end()) return at->second;
  }
  const auto global = host.scopes[0].find(name);
  if (global != host.scopes[0].end()) return global->second;
  if (!find_global(host, name)) return HostValue::kNoSlot;
  return host.scopes[0].at(name);
}

bool names_variable(HostState& host, TokenRange range) {
  for (size_t i = range.first; i < range.last; ++i) {
    if (host.token(i).identifier() && find_variable(host, host.token(i).text) != HostValue::kNoSlot)
      return true;
  }
  return false;
}

bool may_be_place(const HostState& host, TokenRange range) {
  static const std::set<std::string> kSelects = {"?", "[", ".", "->", "min", "max"};
  for (size_t i = range.first; i < range.last; ++i) {
    if (kSelects.count(host.token(i).text) > 0) return true;
  }
  return false;
}

size_t aliased(const HostState& host, const CType& type, const HostValue& value) {
  if (!type.reference || value.slot >= host.slots.size() || value.member >= 0 ||
      value.is(HostValue::Kind::Address))
    return HostValue::kNoSlot;
  // A const reference to another type of number refers to a converted copy.
  const CType& own = host.slots[value.slot].type;
  const bool same = own.dtype
                        ? own.dtype == type.dtype && own.pointers == 0
                        : value.is(HostValue::Kind::Integer) && integer_kind(type) == value.integer;
  return type.dtype && type.pointers == 0 && !same ? HostValue::kNoSlot : value.slot;
}

namespace {

/// The type of an enumeration's values: as written, else int. Empty if that is not an integer type.
std::optional<IntKind> underlying(const HostState& host, const Item& item, size_t open) {
  for (size_t i = item.first; i < open; ++i) {
    if (!host.source.tokens[i].is(":")) continue;
    const auto words = host.source.expanded(i + 1, open);
    size_t at = 0;
    const auto type = read_type(words, at, words.size(), host.source.types);
    return type ? integer_kind(*type) : std::nullopt;
  }
  return IntKind::I32;
}

/// One value that is not followed makes all unknown, because it may change the type of all.
void read_enumeration(HostState& host, const Item& item, size_t open, size_t end) {
  auto kind = underlying(host, item, open);
  HostValue next = integer_value(number(0));
  std::vector<std::pair<std::string, HostValue>> found;
  host.code = host.code_of(open + 1, std::max(open + 1, end));
  for (const TokenRange& one : host.split({0, host.tokens().size()})) {
    if (one.first >= one.last || !host.token(one.first).identifier()) continue;
    const std::string name = host.token(one.first).text;
    if (one.last > one.first + 2) next = evaluate(host, {one.first + 2, one.last});
    const bool known = next.is(HostValue::Kind::Integer) && next.term->constant();
    const int64_t value = known ? *next.term->constant() : 0;
    if (kind && (!known || value < lowest(*kind) || value > highest(*kind))) kind.reset();
    found.emplace_back(name, integer_value(number(value), kind.value_or(IntKind::I32)));
    host.enumerators[name] = found.back().second;  // the next may use it
    next = integer_value(number(value + 1), kind.value_or(IntKind::I32));
  }
  for (const auto& [name, value] : found) {
    const bool fresh = host.enumerator_names.insert(name).second;
    host.enumerators[name] = fresh && kind ? value
                                           : unknown_value(fmt::format("the enumerator '{}'", name),
                                                           host.source.tokens[item.first]);
  }
}

}  // namespace

void read_enumerators(HostState& host) {
  for (const Item& item : host.source.outline.items) {
    if (item.kind != Item::Kind::Type || !host.source.tokens[item.first].is("enum")) continue;
    size_t at = item.first;
    while (at < item.last && !host.source.tokens[at].is("{")) ++at;
    if (at >= item.last) continue;
    const size_t end = cuda_source::behind_bracket(host.source.tokens, at, item.last) - 1;
    read_enumeration(host, item, at, end);
    host.scopes[0].clear();
  }
  host.code = 0;
}

}  // namespace kw::cuda_import
