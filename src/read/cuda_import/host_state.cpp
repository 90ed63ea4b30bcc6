// The problem: all readers of host code share a place in the tokens, variables, decisions and
// problems, and trying a branch must be undone. The choice: one plain struct that the readers
// change directly; copies of its slots and scopes are a snapshot. The alternative, a state per
// reader, would need a snapshot of each. The cost: every reader can change every field.
#include "cuda_import/host_state.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::cuda_import {

namespace {

constexpr size_t kMostDecisions = 12;

}  // namespace

HostState::HostState(const HostSource& file, std::vector<bool> decisions)
    : source(file), types(file.types) {
  out.decisions = std::move(decisions);
  codes.emplace_back();
  scopes.resize(2);
}

void HostState::problem(const cuda_source::Token& where, std::string message, std::string hint) {
  const int length = static_cast<int>(std::max<size_t>(1, where.end - where.begin));
  for (const cuda_source::Diagnostic& known : out.problems) {
    if (known.line == where.line && known.message == message) return;
  }
  out.problems.push_back({where.line, where.column, length, std::move(message), std::move(hint)});
}

void HostState::problem(const HostValue& unknown, const std::string& what,
                        const cuda_source::Token& where) {
  cuda_source::Token place = where;
  if (unknown.is(HostValue::Kind::Unknown) && unknown.line > 0) {
    place.line = unknown.line;
    place.column = unknown.column;
    place.begin = place.end = 0;
  }
  const std::string why =
      unknown.is(HostValue::Kind::Unknown) ? unknown.text : "something that is not a number here";
  problem(place, fmt::format("{}: {}", what, why),
          "plans hold integer expressions of the parameters; see docs/import.md");
}

const cuda_source::Token& HostState::token(size_t place) const {
  static const cuda_source::Token kEnd;
  return place < tokens().size() ? tokens()[place] : kEnd;
}

bool HostState::take(std::string_view text) {
  if (!next_is(text)) return false;
  ++at;
  return true;
}

std::vector<TokenRange> HostState::split(TokenRange range, std::string_view separator) const {
  std::vector<TokenRange> parts;
  const std::vector<cuda_source::Token>& all = tokens();
  const size_t last = std::min(range.last, all.size());
  size_t first = range.first;
  for (size_t i = range.first; i < last; ++i) {
    const std::string& text = all[i].text;
    if (text == "(" || text == "[" || text == "{") {
      i = cuda_source::behind_bracket(all, i, last) - 1;
    } else if (text == "<" && i > first && all[i - 1].identifier()) {
      const size_t close = cuda_source::behind_angles(all, i, last);
      const bool templates = close > i && close < last &&
                             (all[close].is("(") || all[close].is("::") || all[close].is("{"));
      if (templates) i = close - 1;
    } else if (text == separator) {
      parts.push_back({first, i});
      first = i + 1;
    }
  }
  if (first < last || !parts.empty()) parts.push_back({first, last});
  return parts;
}

size_t HostState::code_of(size_t first, size_t last) {
  const auto known = code_numbers.find({first, last});
  if (known != code_numbers.end()) return known->second;
  std::optional<std::vector<cuda_source::Token>> expanded =
      cuda_source::expand(source.tokens, first, last, source.macros);
  if (!expanded) {
    problem(source.tokens[std::min(first, source.tokens.size() - 1)],
            "the macros here expand without end");
    broken = true;
    expanded.emplace();
  }
  for (size_t i = first; i < last; ++i) {
    const auto macro = source.macros.find(source.tokens[i].text);
    if (source.tokens[i].identifier() && macro != source.macros.end() && macro->second.ambiguous)
      problem(source.tokens[i],
              fmt::format("'{}' is defined more than once, differently", macro->first),
              "leave one definition");
  }
  codes.push_back(std::move(*expanded));
  return code_numbers[{first, last}] = codes.size() - 1;
}

size_t HostState::declare(const std::string& name, const CType& type, HostValue value) {
  slots.push_back({std::move(value), name, type});
  if (type.pointers > 0) slots.back().value.type = type;
  scopes.back()[name] = slots.size() - 1;
  return slots.size() - 1;
}

void HostState::assign(size_t slot, int member, HostValue value, const cuda_source::Token& where) {
  if (slot >= slots.size()) return;
  Slot& target = slots[slot];
  changed = std::min(changed, slot);
  if (slot < copied)
    problem(where, fmt::format("'{}' changes after a lambda may have copied it", target.name),
            "capture by reference");
  if (member >= 0 && target.value.is(HostValue::Kind::Extents)) {
    value = converted(*this, value, CType{"long", tensor::DType::Int64, 8}, where);
    if (!value.is(HostValue::Kind::Integer) || value.assumed) {
      problem(value, fmt::format("'{}' gets a value that cannot be followed", target.name), where);
      return;
    }
    Extents& extents = target.value.extents;
    (member == 0 ? extents.x : member == 1 ? extents.y : extents.z) = value.term;
    return;
  }
  value = converted(*this, value, target.type, where);
  if (!value.is(HostValue::Kind::Address)) value.slot = HostValue::kNoSlot;
  value.home = HostValue::kNoSlot;
  value.member = -1;
  if (target.type.pointers > 0) value.type = target.type;
  target.value = std::move(value);
}

HostValue HostState::target_of(const HostValue& address) const {
  if (address.slot >= slots.size()) return {};
  return value_of(address.slot);
}

HostValue HostState::value_of(size_t slot) const {
  HostValue found = slots[slot].value;
  (found.is(HostValue::Kind::Address) ? found.home : found.slot) = slot;
  return found;
}

const Item* HostState::find_item(const std::string& name, Item::Kind kind) const {
  for (const Item& item : source.outline.items) {
    const bool qualified = name.find("::") != std::string::npos && kind == Item::Kind::Host;
    if (item.kind == kind &&
        (item.name == name || (!qualified && last_name(item.name) == last_name(name)) ||
         item.name.ends_with("::" + name)))
      return &item;
  }
  return nullptr;
}

bool HostState::decide(const HostValue& value, const cuda_source::Token& where) {
  const TermRef term = condition_of(value);
  if (!term) {
    problem(value, "a condition cannot be followed", where);
    return false;
  }
  if (const auto known = term->constant()) return *known != 0;
  const std::string yes = term->text(), no = negated(term)->text();
  for (const TermRef& one : out.path.conditions) {
    if (one->text() == yes) return true;
    if (one->text() == no) return false;
  }
  if (repeat >= 0 || taken >= kMostDecisions) {
    problem(where,
            repeat >= 0 ? fmt::format("'{}' is decided inside a loop of launches", yes)
                        : std::string("too many conditions on the shape"),
            "launch groups are chosen once per call, by 'when'");
    broken = true;
    return false;
  }
  if (taken == out.decisions.size()) out.decisions.push_back(true);
  const bool holds = out.decisions[taken++];
  out.path.conditions.push_back(holds ? term : negated(term));
  return holds;
}

}  // namespace kw::cuda_import
