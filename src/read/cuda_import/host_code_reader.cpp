// The problem: a launcher computes grids and sizes from its parameters, and a plan needs them as
// expressions. The choice: interpret the host code with symbols for parameters, one path per run. A
// condition on the shape that cannot be folded is a decision: this run takes one branch, a later
// run the other. The alternative, recording a real run, shows one shape only (host_recording does
// that). The cost: the number of decisions per path is limited, and unknown code is refused. This
// file has the names, scopes and decisions; the other follow_*.cpp files have the language.
#include "cuda_import/host_code_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace kw::cuda_import {

namespace {

constexpr size_t kMostDecisions = 12;

}  // namespace

HostCodeReader::HostCodeReader(const HostSource& source, std::vector<bool> decisions)
    : source_(source), types_(source.types) {
  out_.decisions = std::move(decisions);
  codes_.emplace_back();
  scopes_.resize(2);
  read_enumerators();
}

Followed HostCodeReader::run(const Item& launcher, const std::vector<HostValue>& arguments) {
  const std::vector<CParameter> parameters = source_.parameters(launcher);
  for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i)
    declare(parameters[i].name, parameters[i].type, arguments[i]);
  const cuda_source::Token& where = source_.tokens[launcher.first];
  run_body(code_of(launcher.body_first, launcher.body_last), {}, where);
  out_.decisions.resize(taken_);
  return std::move(out_);
}

void HostCodeReader::problem(const cuda_source::Token& where, std::string message,
                             std::string hint) {
  const int length = static_cast<int>(std::max<size_t>(1, where.end - where.begin));
  for (const cuda_source::Diagnostic& known : out_.problems) {
    if (known.line == where.line && known.message == message) return;
  }
  out_.problems.push_back({where.line, where.column, length, std::move(message), std::move(hint)});
}

void HostCodeReader::problem(const HostValue& unknown, const std::string& what,
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

const cuda_source::Token& HostCodeReader::token(size_t at) const {
  static const cuda_source::Token kEnd;
  const std::vector<cuda_source::Token>& code = codes_[code_];
  return at < code.size() ? code[at] : kEnd;
}

bool HostCodeReader::take(std::string_view text) {
  if (!next_is(text)) return false;
  ++at_;
  return true;
}

size_t HostCodeReader::code_of(size_t first, size_t last) {
  const auto known = code_numbers_.find({first, last});
  if (known != code_numbers_.end()) return known->second;
  std::optional<std::vector<cuda_source::Token>> expanded =
      cuda_source::expand(source_.tokens, first, last, source_.macros);
  if (!expanded) {
    problem(source_.tokens[std::min(first, source_.tokens.size() - 1)],
            "the macros here expand without end");
    broken_ = true;
    expanded.emplace();
  }
  for (size_t i = first; i < last; ++i) {
    const auto macro = source_.macros.find(source_.tokens[i].text);
    if (source_.tokens[i].identifier() && macro != source_.macros.end() && macro->second.ambiguous)
      problem(source_.tokens[i],
              fmt::format("'{}' is defined more than once, differently", macro->first),
              "leave one definition");
  }
  codes_.push_back(std::move(*expanded));
  return code_numbers_[{first, last}] = codes_.size() - 1;
}

size_t HostCodeReader::find_variable(const std::string& name) {
  for (size_t i = scopes_.size(); i > frame_; --i) {
    const auto at = scopes_[i - 1].find(name);
    if (at != scopes_[i - 1].end()) return at->second;
  }
  const auto global = scopes_[0].find(name);
  if (global != scopes_[0].end()) return global->second;
  if (!find_global(name)) return HostValue::kNoSlot;
  return scopes_[0].at(name);
}

size_t HostCodeReader::declare(const std::string& name, const CType& type, HostValue value) {
  slots_.push_back({std::move(value), name, type});
  if (type.pointers > 0) slots_.back().value.type = type;
  scopes_.back()[name] = slots_.size() - 1;
  return slots_.size() - 1;
}

void HostCodeReader::assign(size_t slot, int member, HostValue value,
                            const cuda_source::Token& where) {
  if (slot >= slots_.size()) return;
  Slot& target = slots_[slot];
  if (member >= 0 && target.value.is(HostValue::Kind::Extents)) {
    value = converted(value, CType{"int", tensor::DType::Int32, 4}, where);
    if (!value.is(HostValue::Kind::Integer)) {
      problem(value, fmt::format("'{}' gets a value that cannot be followed", target.name), where);
      return;
    }
    Extents& extents = target.value.extents;
    (member == 0 ? extents.x : member == 1 ? extents.y : extents.z) = value.term;
    return;
  }
  value = converted(value, target.type, where);
  if (!value.is(HostValue::Kind::Address)) value.slot = HostValue::kNoSlot;
  value.member = -1;
  if (target.type.pointers > 0) value.type = target.type;
  target.value = std::move(value);
}

bool HostCodeReader::find_global(const std::string& name) {
  if (const auto at = enumerators_.find(name); at != enumerators_.end()) {
    slots_.push_back({at->second, name, {}});
    scopes_[0][name] = slots_.size() - 1;
    return true;
  }
  const auto item = std::ranges::find_if(source_.outline.items, [&](const Item& one) {
    return one.kind == Item::Kind::Variable && last_name(one.name) == name;
  });
  if (item == source_.outline.items.end() || !evaluating_.insert(name).second) return false;
  size_t at = item->first;
  const auto type = read_type(source_.tokens, at, item->last, source_.types);
  Slot slot{{}, name, type.value_or(CType{})};
  if (item->body_last > item->body_first) {
    const size_t code = code_of(item->body_first, item->body_last);
    const auto saved = std::tuple(code_, at_, end_);
    code_ = code;
    slot.value = evaluate({0, codes_[code].size()});
    std::tie(code_, at_, end_) = saved;
    slot.value = converted(slot.value, slot.type, source_.tokens[item->first]);
    slot.value.slot = HostValue::kNoSlot;
  } else if (slot.type.pointers > 0) {
    slot.value.kind = HostValue::Kind::Pointer;
  }
  if (slot.type.pointers > 0) slot.value.type = slot.type;
  evaluating_.erase(name);
  slots_.push_back(std::move(slot));
  scopes_[0][name] = slots_.size() - 1;
  return true;
}

void HostCodeReader::read_enumerators() {
  for (const Item& item : source_.outline.items) {
    if (item.kind != Item::Kind::Type || !source_.tokens[item.first].is("enum")) continue;
    size_t at = item.first;
    while (at < item.last && !source_.tokens[at].is("{")) ++at;
    if (at >= item.last) continue;
    const size_t end = cuda_source::behind_bracket(source_.tokens, at, item.last) - 1;
    TermRef next = number(0);
    code_ = code_of(at + 1, std::max(at + 1, end));
    for (const Range& one : split({0, codes_[code_].size()})) {
      if (one.first >= one.last || !token(one.first).identifier()) continue;
      if (one.last > one.first + 2) {
        const HostValue value = evaluate({one.first + 2, one.last});
        if (!value.is(HostValue::Kind::Integer)) break;
        next = value.term;
      }
      enumerators_[token(one.first).text] = integer_value(next);
      next = make_term(TermOp::Add, {next, number(1)});
    }
  }
  code_ = 0;
}

const Item* HostCodeReader::find_item(const std::string& name, Item::Kind kind) const {
  for (const Item& item : source_.outline.items) {
    if (item.kind == kind && (item.name == name || last_name(item.name) == last_name(name)))
      return &item;
  }
  return nullptr;
}

bool HostCodeReader::decide(const HostValue& value, const cuda_source::Token& where) {
  const TermRef term = condition_of(value);
  if (!term) {
    problem(value, "a condition cannot be followed", where);
    return false;
  }
  if (const auto known = term->constant()) return *known != 0;
  const std::string yes = term->text(), no = negated(term)->text();
  for (const TermRef& one : out_.path.conditions) {
    if (one->text() == yes) return true;
    if (one->text() == no) return false;
  }
  if (repeat_ >= 0 || taken_ >= kMostDecisions) {
    problem(where,
            repeat_ >= 0 ? fmt::format("'{}' is decided inside a loop of launches", yes)
                         : std::string("too many conditions on the shape"),
            "launch groups are chosen once per call, by 'when'");
    broken_ = true;
    return false;
  }
  if (taken_ == out_.decisions.size()) out_.decisions.push_back(true);
  const bool holds = out_.decisions[taken_++];
  out_.path.conditions.push_back(holds ? term : negated(term));
  return holds;
}

}  // namespace kw::cuda_import
