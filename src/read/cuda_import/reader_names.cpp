// Names of the file's own: variables of functions, constants at file level, enumerators.
#include "cuda_import/reader_names.h"

#include <algorithm>
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

bool find_global(HostState& host, const std::string& name) {
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
    slot.value = converted(slot.value, slot.type, host.source.tokens[item->first]);
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

void read_enumerators(HostState& host) {
  for (const Item& item : host.source.outline.items) {
    if (item.kind != Item::Kind::Type || !host.source.tokens[item.first].is("enum")) continue;
    size_t at = item.first;
    while (at < item.last && !host.source.tokens[at].is("{")) ++at;
    if (at >= item.last) continue;
    const size_t end = cuda_source::behind_bracket(host.source.tokens, at, item.last) - 1;
    TermRef next = number(0);
    host.code = host.code_of(at + 1, std::max(at + 1, end));
    for (const TokenRange& one : host.split({0, host.tokens().size()})) {
      if (one.first >= one.last || !host.token(one.first).identifier()) continue;
      if (one.last > one.first + 2) {
        const HostValue value = evaluate(host, {one.first + 2, one.last});
        if (!value.is(HostValue::Kind::Integer)) break;
        next = value.term;
      }
      host.enumerators[host.token(one.first).text] = integer_value(next);
      next = make_term(TermOp::Add, {next, number(1)});
    }
  }
  host.code = 0;
}

}  // namespace kw::cuda_import
