// The problem: branches and loops of a launcher decide which kernels run. The choice: a branch that
// only changes integers becomes a pick() expression; any other is a decision of the path. A loop
// with constant bounds is unrolled; one that depends on the shape becomes 'repeat'. The
// alternative, a path for every branch, doubles the launch groups with each if. The cost: merging
// runs both branches on copies of the state and restores it if one does more.
#include "cuda_import/reader_statements.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cuda_import/kept_values.h"
#include "cuda_import/reader_expressions.h"
#include "cuda_import/reader_names.h"

namespace kw::cuda_import {

namespace {

constexpr size_t kMostSteps = 20000;
constexpr int kMostNested = 150;
constexpr int kMostTurns = 256;
const std::set<std::string> kStreams = {"cout", "cerr", "clog", "printf"};
const std::set<std::string> kSkipped = {"static_assert", "delete", "typedef"};

size_t behind_statement(const HostState& host, size_t at, int depth = 0) {
  const std::vector<cuda_source::Token>& code = host.tokens();
  const size_t last = host.end;
  if (at >= last) return last;
  if (depth > kMostNested) return last;
  const std::string& text = code[at].text;
  if (text == "{") return cuda_source::behind_bracket(code, at, last);
  if (text == "if" || text == "for" || text == "while" || text == "switch") {
    size_t open = at + 1;
    while (open < last && !code[open].is("(") && open < at + 3) ++open;
    if (open >= last || !code[open].is("(")) return std::min(at + 1, last);
    size_t end = behind_statement(host, cuda_source::behind_bracket(code, open, last), depth + 1);
    if (text == "if" && end < last && code[end].is("else"))
      end = behind_statement(host, end + 1, depth + 1);
    return end;
  }
  if (text == "try" || text == "else") {
    size_t end = behind_statement(host, at + 1, depth + 1);
    while (text == "try" && end + 1 < last && code[end].is("catch"))
      end = behind_statement(host, cuda_source::behind_bracket(code, end + 1, last), depth + 1);
    return end;
  }
  size_t end = text == "do" ? behind_statement(host, at + 1, depth + 1) : at;
  for (; end < last; ++end) {
    if (code[end].is("(") || code[end].is("[") || code[end].is("{"))
      end = cuda_source::behind_bracket(code, end, last) - 1;
    else if (code[end].is(";"))
      return end + 1;
  }
  return last;
}

bool looks_like_declaration(const HostState& host, size_t stop) {
  size_t at = host.at;
  const size_t last = std::min(stop, host.tokens().size());
  const auto type = read_type(host.tokens(), at, last, host.types);
  if (!type || at >= last || !host.token(at).identifier()) return false;
  static const std::set<std::string> kBehind = {"=", ";", ",", "(", "{", "[", ":"};
  return at + 1 >= last || kBehind.count(host.token(at + 1).text) > 0;
}

void declarator(HostState& host, const CType& type, size_t stop) {
  const cuda_source::Token name = host.token(host.at++);
  HostValue value;
  if (type.base == "dim3") {
    value.kind = HostValue::Kind::Extents;
  } else if (type.pointers > 0) {
    value.kind = HostValue::Kind::Pointer;
  } else if (type.base == "cudaError_t" || type.base == "cudaError") {
    value.kind = HostValue::Kind::Status;
  } else if (type.dtype) {
    value = unknown_value(fmt::format("'{}' has no value yet", name.text), name);
  }
  bool is_array = false;
  while (host.at < stop && host.here().is("[")) {
    host.at = cuda_source::behind_bracket(host.tokens(), host.at, stop);
    is_array = true;
  }
  const bool assigns = host.at < stop && host.here().is("=");
  const bool braces = host.at < stop && (host.here().is("(") || host.here().is("{"));
  if (assigns) {
    value = evaluate(host, {host.at + 1, stop});
  } else if (braces && type.base == "dim3") {
    HostValue list;
    list.kind = HostValue::Kind::List;
    for (const TokenRange& one :
         host.split({host.at + 1, cuda_source::behind_bracket(host.tokens(), host.at, stop) - 1}))
      list.items.push_back(evaluate(host, one));
    value = std::move(list);
  } else if (braces && (type.dtype || type.pointers > 0 || type.base == "auto")) {
    const TokenRange inner = {host.at + 1,
                              cuda_source::behind_bracket(host.tokens(), host.at, stop) - 1};
    if (inner.first < inner.last) value = evaluate(host, inner);
  } else if (braces) {  // for its effects
    evaluate(host, {host.at + 1, cuda_source::behind_bracket(host.tokens(), host.at, stop) - 1});
  }
  if (type.base == "dim3" && !value.is(HostValue::Kind::Unknown)) {
    value.extents = extents_of(host, value, name, "this dim3");
    value.kind = HostValue::Kind::Extents;
  }
  if (!is_array && value.is(HostValue::Kind::List) && value.items.size() == 1) {
    const HostValue only = value.items.front();
    value = only;
  }
  value = converted(value, is_array ? CType{} : type, name);
  check_kept(host, type, value, name);
  value.slot = value.is(HostValue::Kind::Address) ? value.slot : HostValue::kNoSlot;
  value.member = -1;
  host.declare(name.text, is_array ? CType{} : type, std::move(value));
}

bool declaration(HostState& host, size_t stop) {
  const size_t start = host.at;
  if (host.here().is("using")) {
    size_t at = host.at + 3;
    const auto type = read_type(host.tokens(), at, stop, host.types);
    if (type && host.token(start + 2).is("=")) host.types[host.token(start + 1).text] = *type;
    return true;
  }
  if (!looks_like_declaration(host, stop)) return false;
  const size_t last = stop > start && host.token(stop - 1).is(";") ? stop - 1 : stop;
  CType base = read_type(host.tokens(), host.at, last, host.types).value_or(CType{});
  check_class(host, base, host.token(start));
  const size_t names = host.at;
  for (const TokenRange& one : host.split({names, last})) {
    host.at = one.first;
    CType type = base;
    if (one.first != names) type.pointers = 0;  // each name has its own '*'
    for (; host.at < one.last &&
           (host.here().is("*") || host.here().is("&") || host.here().is("const"));
         ++host.at)
      type.pointers += host.here().is("*");
    if (host.at < one.last && host.here().identifier()) declarator(host, type, one.last);
  }
  return true;
}

HostValue condition(HostState& host, TokenRange range) {
  const std::vector<TokenRange> parts = host.split(range, ";");
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    host.at = parts[i].first;
    if (!declaration(host, parts[i].last)) evaluate(host, parts[i]);
  }
  const TokenRange last = parts.empty() ? range : parts.back();
  host.at = last.first;
  const size_t before = host.slots.size();
  if (looks_like_declaration(host, last.last) && declaration(host, last.last) &&
      host.slots.size() > before)
    return host.slots.back().value;
  return evaluate(host, last);
}

/// Follows one branch; returns whether it only changed numbers.
bool quiet_branch(HostState& host, size_t body) {
  if (body == HostValue::kNoSlot) return true;
  const auto size = [&] {
    const auto zeroed = std::ranges::count(host.out.path.scratch, true, &RecordedScratch::zero);
    return std::tuple(zeroed, host.out.path.launches.size(), host.out.path.scratch.size(),
                      host.out.problems.size(), host.out.path.conditions.size(),
                      host.out.path.repeats.size(), host.out.written.size(), host.out.used.size());
  };
  const auto before = size();
  host.at = body;
  const Flow flow = statement(host);
  return flow == Flow::Next && size() == before && !host.broken && !host.out.path.refused;
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
  bool fine = quiet_branch(host, yes);
  const std::deque<Slot> after = host.slots;
  host.slots = saved_slots;
  host.scopes = saved_scopes;
  fine = fine && quiet_branch(host, no);
  for (size_t i = 0; fine && i < saved_slots.size(); ++i) {
    const HostValue &a = after[i].value, &b = host.slots[i].value;
    const auto same = [](const TermRef& x, const TermRef& y) {
      return x == y || (x && y && x->text() == y->text());
    };
    const auto same_extents = [&](const Extents& x, const Extents& y) {
      return same(x.x, y.x) && same(x.y, y.y) && same(x.z, y.z);
    };
    if (a.kind == b.kind && a.text == b.text && same(a.term, b.term) &&
        same(a.denominator, b.denominator) && a.real == b.real &&
        same_extents(a.extents, b.extents))
      continue;
    fine = a.is(HostValue::Kind::Integer) && b.is(HostValue::Kind::Integer);
    if (!fine) break;
    const TermRef picked = make_term(TermOp::Pick, {which, b.term, a.term});
    fine = picked->size <= kMaxTermSize;
    host.slots[i].value = integer_value(picked);
  }
  if (fine) return true;
  host.out = saved_out;
  host.slots = saved_slots;
  host.scopes = saved_scopes;
  std::tie(host.taken, host.broken, host.at) = saved;
  return false;
}

/// Whether a condition asks how a call of the runtime ended. Import assumes success.
bool asks_status(HostState& host, TokenRange range) {
  for (size_t i = range.first; i < range.last; ++i) {
    const cuda_source::Token& token = host.token(i);
    if (!token.identifier()) continue;
    if (token.text.starts_with("cuda")) return true;
    const size_t slot = find_variable(host, token.text);
    if (slot != HostValue::kNoSlot && host.slots[slot].value.is(HostValue::Kind::Status))
      return true;
  }
  return false;
}

/// A branch for failed calls is left out, so it must not launch.
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
  const HostValue value = condition(host, {open + 1, close - 1});
  const size_t behind = behind_statement(host, close);
  const bool has_else = behind < host.end && host.token(behind).is("else");
  const size_t other = has_else ? behind + 1 : HostValue::kNoSlot;
  const TermRef term = condition_of(value);
  Flow flow = Flow::Next;
  const bool merged = term && !term->constant() && merge_branches(host, term, close, other);
  if (!merged) {
    const bool holds = host.decide(value, host.token(open + 1));
    if (asks_status(host, {open + 1, close - 1}))
      check_left_out(host,
                     holds ? TokenRange{behind, has_else ? behind_statement(host, other) : behind}
                           : TokenRange{close, behind});
    host.at = holds ? close : other;
    if (!host.broken && (holds || has_else)) flow = statement(host);
  }
  host.scopes.pop_back();
  return flow;
}

Flow run_loop(HostState& host, TokenRange condition, TokenRange step, size_t body,
              bool check_first) {
  const cuda_source::Token where = host.token(condition.first);
  for (int turn = 0; !host.broken && !host.out.path.refused; ++turn) {
    if (turn > 0 || check_first) {
      const bool forever = condition.first >= condition.last;
      const HostValue value = forever ? integer_value(number(1)) : evaluate(host, condition);
      const TermRef term = condition_of(value);
      if (!term || !term->constant()) {
        host.problem(
            where,
            fmt::format("how often this loop runs depends on the shape{}",
                        term ? ": " + term->text() : ""),
            "a plan repeats 'for (int i = A; i < B; ++i)' with the same launches, at most 64 "
            "times");
        return Flow::Next;
      }
      if (*term->constant() == 0) return Flow::Next;
    }
    if (turn >= kMostTurns) {
      host.problem(where, fmt::format("this loop runs more than {} times", kMostTurns), "");
      return Flow::Next;
    }
    host.at = body;
    const Flow flow = statement(host);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
    if (step.first < step.last) {
      for (const TokenRange& one : host.split(step)) evaluate(host, one);
    }
  }
  return Flow::Next;
}

Flow for_statement(HostState& host, size_t start, size_t stop) {
  const size_t close = host.behind(start + 1);
  const std::vector<TokenRange> parts = host.split({start + 2, close - 1}, ";");
  if (parts.size() != 3) {
    host.problem(host.token(start), "a loop over a range is not followed", "count with an index");
    return Flow::Next;
  }
  host.scopes.emplace_back();
  host.at = parts[0].first;
  if (parts[0].first < parts[0].last && !declaration(host, parts[0].last)) evaluate(host, parts[0]);
  Flow flow = Flow::Next;
  const auto saved = std::pair(host.at, host.end);
  if (!host.broken && !repeat_loop(host, parts[1], parts[2], close))
    flow = run_loop(host, parts[1], parts[2], close, true);
  std::tie(host.at, host.end) = saved;
  host.scopes.pop_back();
  host.at = stop;
  return flow;
}

Flow while_statement(HostState& host, size_t start, size_t) {
  const size_t close = host.behind(start + 1);
  return run_loop(host, {start + 2, close - 1}, {}, close, true);
}

Flow do_statement(HostState& host, size_t start) {
  const size_t close = behind_statement(host, start + 1);
  if (!host.token(close).is("while")) return Flow::Next;
  const size_t end = host.behind(close + 1);
  return run_loop(host, {close + 2, end - 1}, {}, start + 1, false);
}

Flow switch_statement(HostState& host, size_t start) {
  const size_t close = host.behind(start + 1);
  const HostValue value = evaluate(host, {start + 2, close - 1});
  const size_t stop = behind_statement(host, start);
  size_t chosen = stop;
  size_t fallback = stop;
  for (size_t i = close + 1; i + 1 < stop && chosen == stop && !host.broken; ++i) {
    if (host.token(i).is("(") || host.token(i).is("[") || host.token(i).is("{")) {
      i = cuda_source::behind_bracket(host.tokens(), i, stop) - 1;
    } else if (host.token(i).is("default")) {
      fallback = i + 2;
    } else if (host.token(i).is("case")) {
      size_t colon = i + 1;
      while (colon < stop && !host.token(colon).is(":")) ++colon;
      const HostValue label = evaluate(host, {i + 1, colon});
      if (host.decide(combine("==", value, label, host.token(i)), host.token(i)))
        chosen = colon + 1;
      i = colon;
    }
  }
  if (chosen == stop) chosen = fallback;
  if (chosen >= stop || host.broken) return Flow::Next;
  const auto saved = std::pair(host.at, host.end);
  host.scopes.emplace_back();
  host.at = chosen;
  host.end = stop - 1;
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

Flow return_statement(HostState& host, size_t stop) {
  ++host.at;
  host.result = host.at + 1 < stop ? evaluate(host, {host.at, stop - 1}) : HostValue{};
  host.result.slot = HostValue::kNoSlot;
  return Flow::Return;
}

}  // namespace

Flow block(HostState& host, TokenRange range) {
  const auto saved = std::pair(host.at, host.end);
  host.scopes.emplace_back();
  host.at = range.first;
  host.end = std::min(range.last, host.tokens().size());
  Flow flow = Flow::Next;
  while (host.at < host.end && flow == Flow::Next && !host.broken && !host.out.path.refused)
    flow = statement(host);
  host.scopes.pop_back();
  std::tie(host.at, host.end) = saved;
  return flow;
}

Flow statement(HostState& host) {
  const size_t start = host.at, stop = behind_statement(host, start);
  const cuda_source::Token first = host.token(start);
  if (++host.steps > kMostSteps || host.depth > kMostNested) {
    host.problem(first, "the host code does not end", "launch counts must be bounded");
    host.broken = true;
    return Flow::Return;
  }
  ++host.depth;
  Flow flow = Flow::Next;
  if (first.is("{")) {
    flow = block(host, {start + 1, stop - 1});
  } else if (first.is("if")) {
    flow = if_statement(host, start);
  } else if (first.is("for")) {
    flow = for_statement(host, start, stop);
  } else if (first.is("while")) {
    flow = while_statement(host, start, stop);
  } else if (first.is("do")) {
    flow = do_statement(host, start);
  } else if (first.is("switch")) {
    flow = switch_statement(host, start);
  } else if (first.is("try")) {
    host.at = start + 1;
    flow = block(host, {start + 2, behind_statement(host, start + 1) - 1});
  } else if (first.is("return")) {
    flow = return_statement(host, stop);
  } else if (first.is("break")) {
    flow = Flow::Break;
  } else if (first.is("continue")) {
    flow = Flow::Continue;
  } else if (first.is("throw")) {
    host.out.path.refused = true;
  } else if (first.is("goto")) {
    host.problem(first, "'goto' is not followed", "");
    host.broken = true;
  } else if (!first.is(";") && !first.is("}") && kSkipped.count(first.text) == 0 &&
             !declaration(host, stop)) {
    host.at = start;
    const bool prints = kStreams.count(first.text) > 0 ||
                        (first.is("std") && kStreams.count(host.token(start + 2).text) > 0);
    const size_t before = host.out.problems.size();
    const HostValue value = evaluate(host, {start, stop - 1});
    if (!prints && host.out.problems.size() == before && value.is(HostValue::Kind::Unknown))
      host.problem(value, "a statement cannot be followed", first);
  }
  --host.depth;
  host.at = stop;
  return flow;
}

}  // namespace kw::cuda_import
