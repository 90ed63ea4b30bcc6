// The problem: branches of a launcher decide which kernels run. The choice: a branch that only
// changes integers becomes a pick() expression; any other is a decision of the path. What a call of
// the runtime answered may only decide whether the launcher continues: import assumes that calls
// succeed, so the branch for failures has to end the call, or do nothing that matters. The
// alternative, a path for every branch, doubles the launch groups with each if. The cost: merging
// runs both branches on copies of the state and restores it if one does more.
#include "cuda_import/reader_statements.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cuda_import/host_ranges.h"
#include "cuda_import/reader_expressions.h"

namespace kw::cuda_import {

namespace {

bool same_term(const TermRef& a, const TermRef& b) {
  return a == b || (a && b && a->text() == b->text());
}

bool equal_values(const HostValue& a, const HostValue& b) {
  return a.kind == b.kind && a.text == b.text && same_term(a.term, b.term) &&
         same_term(a.denominator, b.denominator) && a.real == b.real && a.integer == b.integer &&
         a.width == b.width && a.assumed == b.assumed && a.slot == b.slot && a.code == b.code &&
         a.body_first == b.body_first && a.items.size() == b.items.size() &&
         same_term(a.extents.x, b.extents.x) && same_term(a.extents.y, b.extents.y) &&
         same_term(a.extents.z, b.extents.z);
}

/// Counts of everything that a branch could add.
std::vector<size_t> traces(const HostState& host) {
  const Path& path = host.out.path;
  const auto zeroed = std::ranges::count(path.scratch, true, &RecordedScratch::zero);
  return {static_cast<size_t>(zeroed), path.launches.size(),   path.scratch.size(),
          host.out.problems.size(),    path.conditions.size(), path.repeats.size(),
          host.out.written.size(),     host.out.used.size()};
}

/// Follows one branch; returns whether it only changed numbers.
bool quiet_branch(HostState& host, size_t body) {
  if (body == HostValue::kNoSlot) return true;
  const auto before = traces(host);
  host.at = body;
  const Flow flow = statement(host);
  return flow == Flow::Next && traces(host) == before && !host.broken && !host.out.path.refused;
}

// if (n > 1024) threads = 512; does not need its own launch group: the number becomes a pick.
// Restores the state and returns false if a branch does more.
bool merge_branches(HostState& host, const TermRef& condition, size_t yes, size_t no) {
  const HostCodeResult saved_out = host.out;
  const std::deque<Slot> saved_slots = host.slots;
  const std::vector<Scope> saved_scopes = host.scopes;
  const auto saved = std::tuple(host.taken, host.broken, host.at);
  const TermRef which =
      condition->is_truth() ? condition : make_term(TermOp::NotEqual, {condition, number(0)});
  bool fine = false;
  {
    const Assumption holds(host, condition);
    fine = quiet_branch(host, yes);
  }
  const std::deque<Slot> after = host.slots;
  host.slots = saved_slots;
  host.scopes = saved_scopes;
  if (fine) {
    const Assumption fails(host, negated(condition));
    fine = quiet_branch(host, no);
  }
  for (size_t i = 0; fine && i < saved_slots.size(); ++i) {
    const HostValue &a = after[i].value, &b = host.slots[i].value;
    if (equal_values(a, b)) continue;
    fine = a.is(HostValue::Kind::Integer) && b.is(HostValue::Kind::Integer) &&
           a.integer == b.integer && !a.assumed && !b.assumed;
    if (!fine) break;
    const TermRef picked = make_term(TermOp::Pick, {which, b.term, a.term});
    fine = picked->size <= kMaxTermSize;
    host.slots[i].value = integer_value(picked, a.integer);
  }
  if (fine) return true;
  host.out = saved_out;
  host.slots = saved_slots;
  host.scopes = saved_scopes;
  std::tie(host.taken, host.broken, host.at) = saved;
  return false;
}

/// What a branch does, besides printing.
enum class Effect : uint8_t { None, Ends, Other };

bool same_slots(const HostState& host, const std::deque<Slot>& before) {
  for (size_t i = 0; i < before.size(); ++i) {
    if (!equal_values(host.slots[i].value, before[i].value)) return false;
  }
  return true;
}

/// Whether every way through the branch ends the call, as its words say it.
bool ends_by_its_words(const HostState& host, TokenRange range) {
  static const std::set<std::string> kEnds = {"exit", "abort", "throw", "return"};
  size_t last = range.first;
  TokenRange inner = range;
  if (host.token(range.first).is("{")) inner = {range.first + 1, range.last - 1};
  for (size_t i = inner.first; i < inner.last; ++i) {
    const std::string& word = host.token(i).text;
    if (word == "break" || word == "continue" || word == "goto" || word == "catch" || word == "[" ||
        (word == "return" && host.calls > 1) || (word == "throw" && host.tries > 0))
      return false;
  }
  for (size_t at = inner.first; at < inner.last;) {
    last = at;
    const size_t next = behind_statement(host, at);
    if (next <= at) return false;
    at = next;
  }
  if (last >= inner.last) return false;
  if (host.token(last).is("std") && host.token(last + 1).is("::")) last += 2;
  return kEnds.count(host.token(last).text) > 0;
}

/// The effect of a branch, found on a copy of the state.
Effect effect_of(HostState& host, TokenRange range) {
  if (range.first >= range.last) return Effect::None;
  if (ends_by_its_words(host, range)) return Effect::Ends;
  const HostCodeResult saved_out = host.out;
  const std::deque<Slot> saved_slots = host.slots;
  const std::vector<Scope> saved_scopes = host.scopes;
  const HostValue saved_result = host.result;
  const auto saved = std::tuple(host.taken, host.broken, host.at);
  const auto before = traces(host);
  host.at = range.first;
  const Flow flow = statement(host);
  const bool ends = host.out.path.refused || (flow == Flow::Return && host.calls == 1);
  const bool quiet = traces(host) == before && !host.broken;
  const bool none = quiet && flow == Flow::Next && same_slots(host, saved_slots);
  host.out = saved_out;
  host.slots = saved_slots;
  host.scopes = saved_scopes;
  host.result = saved_result;
  std::tie(host.taken, host.broken, host.at) = saved;
  return ends && quiet ? Effect::Ends : none ? Effect::None : Effect::Other;
}

/// A branch that depends on how a call of the runtime ended.
Flow assumed_branch(HostState& host, bool holds, TokenRange yes, TokenRange no,
                    const cuda_source::Token& where) {
  const TokenRange taken = holds ? yes : no, left = holds ? no : yes;
  check_left_out(host, left);
  const Effect failing = effect_of(host, left);
  const bool fine = failing == Effect::Ends ||
                    (failing == Effect::None && effect_of(host, taken) == Effect::None);
  if (!fine)
    host.problem(where,
                 "what a call of the runtime answers decides more than whether the call continues",
                 "end the call where one fails: return, exit or throw");
  if (taken.first >= taken.last) return Flow::Next;
  host.at = taken.first;
  return statement(host);
}

}  // namespace

void check_left_out(HostState& host, TokenRange range) {
  for (size_t i = range.first; i < range.last; ++i) {
    const cuda_source::Token& token = host.token(i);
    if (!token.is("<<<") && !token.text.starts_with("cudaLaunch")) continue;
    host.problem(token, "a kernel is launched where a call of the runtime fails",
                 "calls are assumed to succeed");
    return;
  }
}

Flow if_statement(HostState& host, size_t start) {
  size_t open = start + 1;
  if (host.token(open).is("constexpr")) ++open;
  const size_t close = host.behind(open);
  host.scopes.emplace_back();
  const HostValue value = condition_value(host, {open + 1, close - 1});
  const size_t behind = behind_statement(host, close);
  const bool has_else = behind < host.end && host.token(behind).is("else");
  const size_t other = has_else ? behind + 1 : HostValue::kNoSlot;
  const TermRef term = condition_of(value);
  Flow flow = Flow::Next;
  if (term && is_assumed(value)) {
    const TokenRange no =
        has_else ? TokenRange{other, behind_statement(host, other)} : TokenRange{behind, behind};
    if (const auto known = term->constant())
      flow = assumed_branch(host, *known != 0, {close, behind}, no, host.token(open + 1));
    else
      host.problem(host.token(open + 1), "a condition asks for the shape and for a call's outcome",
                   "write two 'if'");
    host.scopes.pop_back();
    return flow;
  }
  const bool merged = term && !term->constant() && merge_branches(host, term, close, other);
  if (!merged) {
    const bool holds = host.decide(value, host.token(open + 1));
    host.at = holds ? close : other;
    if (!host.broken && (holds || has_else)) flow = statement(host);
  }
  host.scopes.pop_back();
  return flow;
}

namespace {

/// A problem for labels inside another statement of the body, which would be jumped into.
bool has_hidden_labels(HostState& host, TokenRange body) {
  const auto is_label = [&](size_t i) {
    return host.token(i).is("case") || host.token(i).is("default");
  };
  for (size_t at = body.first; at < body.last;) {
    if (is_label(at)) {
      while (at < body.last && !host.token(at).is(":")) ++at;
      ++at;
      continue;
    }
    const size_t stop = std::min(behind_statement(host, at), body.last);
    for (size_t i = at; i < stop; ++i) {
      if (host.token(i).is("switch")) i = behind_statement(host, i) - 1;
      if (i >= stop || !is_label(i)) continue;
      host.problem(host.token(i), "a label inside another statement is not followed",
                   "put it into the body of the switch");
      return true;
    }
    at = std::max(stop, at + 1);
  }
  return false;
}

/// The place behind the label that is chosen; `stop` if none is.
size_t chosen_label(HostState& host, const HostValue& value, size_t first, size_t stop) {
  size_t fallback = stop;
  for (size_t i = first; i + 1 < stop && !host.broken; ++i) {
    if (host.token(i).is("(") || host.token(i).is("[") || host.token(i).is("{")) {
      i = cuda_source::behind_bracket(host.tokens(), i, stop) - 1;
    } else if (host.token(i).is("switch")) {
      i = behind_statement(host, i) - 1;
    } else if (host.token(i).is("default")) {
      fallback = i + 2;
    } else if (host.token(i).is("case")) {
      size_t colon = i + 1;
      while (colon < stop && !host.token(colon).is(":") && !host.token(colon).is("?")) ++colon;
      HostValue label = evaluate(host, {i + 1, colon});
      if (!host.token(colon).is(":") || is_assumed(value) || is_assumed(label))
        label = unknown_value("a label that is not followed", host.token(i));
      if (host.decide(combine(host, "==", value, label, host.token(i)), host.token(i)))
        return colon + 1;
      i = colon;
    }
  }
  return fallback;
}

}  // namespace

Flow switch_statement(HostState& host, size_t start) {
  const size_t close = host.behind(start + 1);
  host.scopes.emplace_back();
  const HostValue value = condition_value(host, {start + 2, close - 1});
  const size_t stop = behind_statement(host, start);
  const bool plain = host.token(close).is("{") && !has_hidden_labels(host, {close + 1, stop - 1});
  if (!plain) host.problem(host.token(start), "this switch is not followed", "");
  const size_t chosen = plain ? chosen_label(host, value, close + 1, stop) : stop;
  const auto saved = std::pair(host.at, host.end);
  host.at = chosen;
  host.end = std::max(chosen, stop - 1);
  Flow flow = Flow::Next;
  while (host.at < host.end && flow == Flow::Next && !host.broken && !host.out.path.refused) {
    if (host.here().is("case") || host.here().is("default")) {
      while (host.at < host.end && !host.here().is(":")) ++host.at;
      ++host.at;
    } else {
      flow = statement(host);
    }
  }
  host.scopes.pop_back();
  std::tie(host.at, host.end) = saved;
  return flow == Flow::Break ? Flow::Next : flow;
}

}  // namespace kw::cuda_import
