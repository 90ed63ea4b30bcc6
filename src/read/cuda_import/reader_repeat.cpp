// Loops whose number of iterations depends on the shape; they become 'repeat' in a plan.
#include "cuda_import/reader_statements.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "cuda_import/kept_values.h"
#include "cuda_import/reader_expressions.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

constexpr int64_t kMostRepeats = 64;  // of a plan's repeat

bool same_value(const HostValue& a, const HostValue& b) {
  return a.kind == b.kind && a.text == b.text && a.term == b.term && a.real == b.real &&
         a.extents.x == b.extents.x && a.extents.y == b.extents.y && a.extents.z == b.extents.z;
}

/// a if `parity` is 0, b if it is 1.
HostValue either(const TermRef& parity, const HostValue& a, const HostValue& b) {
  if (const auto known = parity->constant()) return *known == 0 ? a : b;
  HostValue out = a;
  out.text = fmt::format("pick({}, {}, {})", parity->text(), a.text, b.text);
  out.items = {a, b};
  return out;
}

/// Whether the tokens are one operand of '<': every operator in them binds tighter.
bool is_operand(const HostState& host, TokenRange range, const std::string& variable) {
  static const std::set<std::string> kLooser = {"<", "<=", ">",  ">=", "==", "!=", "&",  "^",
                                                "|", "&&", "||", "?",  ",",  "=",  "++", "--"};
  for (size_t i = range.first; i < range.last; ++i) {
    const cuda_source::Token& token = host.token(i);
    const bool shifts = token.is(">") && i + 1 < range.last && host.token(i + 1).is(">") &&
                        host.token(i + 1).joined;
    if (shifts) {
      ++i;
      continue;
    }
    if (token.is(variable) || token.text.ends_with("=")) return false;
    if (token.is("(") || token.is("[") || token.is("{")) {
      const size_t end = cuda_source::behind_bracket(host.tokens(), i, range.last);
      for (; i + 1 < end; ++i) {
        if (host.token(i).is(variable) || host.token(i).is("++") || host.token(i).is("--"))
          return false;
      }
      continue;
    }
    if (kLooser.count(token.text) > 0) return false;
  }
  return range.first < range.last;
}

// for (int i = A; i < B; ++i)
bool counts_up(const HostState& host, TokenRange condition, TokenRange step, size_t first_slot) {
  const Scope& scope = host.scopes.back();
  if (scope.size() != 1 || condition.last < condition.first + 3) return false;
  if (scope.begin()->second < first_slot) return false;  // another variable's second name
  const std::string& name = scope.begin()->first;
  const std::string& comparison = host.token(condition.first + 1).text;
  if (host.token(condition.first).text != name || (comparison != "<" && comparison != "<="))
    return false;
  if (!is_operand(host, {condition.first + 2, condition.last}, name)) return false;
  std::string stepped;
  for (size_t i = step.first; i < step.last; ++i) stepped += host.token(i).text;
  return stepped == "++" + name || stepped == name + "++" || stepped == name + "+=1";
}

// One iteration represents all. Only two pointers may be swapped in it; iterations then alternate.
void run_turn(HostState& host, const TermRef& begin, const TermRef& end, const std::string& name,
              size_t body, const cuda_source::Token& where) {
  const std::deque<Slot> before = host.slots;
  const size_t launches = host.out.path.launches.size();
  host.at = body;
  const Flow flow = statement(host);
  if (!host.broken && (flow == Flow::Break || flow == Flow::Return || host.out.path.refused)) {
    host.problem(where, "this loop ends before its count", "");
    host.broken = true;
    return;
  }
  std::vector<size_t> changed;
  for (size_t i = 0; i < before.size(); ++i) {
    if (!same_value(host.slots[i].value, before[i].value)) changed.push_back(i);
  }
  if (changed.empty() || host.broken) return;
  const auto swapped = [&](size_t i, size_t j) {
    const HostValue &now = host.slots[i].value, &other = before[j].value;
    return now.is(Kind::Pointer) && !now.text.empty() && now.text == other.text &&
           now.items.empty();
  };
  if (changed.size() != 2 || !swapped(changed[0], changed[1]) || !swapped(changed[1], changed[0])) {
    host.problem(where,
                 fmt::format("'{}' changes from one turn of this loop to the next",
                             before[changed.front()].name),
                 "only the loop's own variable may, and two pointers that are swapped");
    host.broken = true;
    return;
  }
  const auto parity = [&](const TermRef& turn) {
    return make_term(TermOp::Remainder, {make_term(TermOp::Subtract, {turn, begin}), number(2)});
  };
  const HostValue a = before[changed[0]].value, b = before[changed[1]].value;
  host.out.path.launches.resize(launches);
  host.slots[changed[0]].value = either(parity(named(name)), a, b);
  host.slots[changed[1]].value = either(parity(named(name)), b, a);
  host.at = body;
  statement(host);
  host.slots[changed[0]].value = either(parity(end), a, b);
  host.slots[changed[1]].value = either(parity(end), b, a);
}

}  // namespace

bool repeat_loop(HostState& host, TokenRange condition, TokenRange step, size_t body,
                 size_t first_slot) {
  if (!counts_up(host, condition, step, first_slot)) return false;
  const auto [name, slot] = *host.scopes.back().begin();
  const bool inclusive = host.token(condition.first + 1).is("<=");
  const HostValue begin = host.slots[slot].value;
  EffectWatch watch(host);
  const HostValue end = evaluate(host, {condition.first + 2, condition.last});
  if (watch.check(host.token(condition.first))) return false;
  if (!begin.is(Kind::Integer) || !end.is(Kind::Integer) || is_assumed(begin) || is_assumed(end))
    return false;
  if (begin.term->constant() && end.term->constant()) return false;  // unrolled instead
  const cuda_source::Token where = host.token(condition.first);
  if (host.repeat >= 0) {
    host.problem(where, "a loop of launches inside a loop of launches", "");
    host.broken = true;
    return true;
  }
  // At most 64 turns, so the variable stays near its first value.
  const int64_t most = highest(begin.integer) - kMostRepeats;
  const TermBounds turns = {begin.term->range.low,
                            std::min(begin.term->range.high, most) + kMostRepeats};
  const HostValue counter = integer_value(named(name, turns), begin.integer);
  if (begin.term->range.high > most || combine(host, "<", counter, end, where).is(Kind::Unknown) ||
      balanced(host, end, counter, where).is(Kind::Unknown)) {
    host.problem(where, "the type of this loop's variable may not hold its bound", "");
    host.broken = true;
    return true;
  }
  const TermRef behind = inclusive ? make_term(TermOp::Add, {end.term, number(1)}) : end.term;
  host.repeat = static_cast<int>(host.out.path.repeats.size());
  host.out.path.repeats.push_back({name, begin.term, behind});
  host.slots[slot].value = counter;
  run_turn(host, begin.term, behind, name, body, where);
  host.repeat = -1;
  return true;
}

}  // namespace kw::cuda_import
