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
const std::set<std::string> kSkipped = {"static_assert", "delete"};

bool looks_like_declaration(const HostState& host, size_t stop) {
  size_t at = host.at;
  const size_t last = std::min(stop, host.tokens().size());
  const auto type = read_type(host.tokens(), at, last, host.types);
  if (!type || at >= last || !host.token(at).identifier()) return false;
  static const std::set<std::string> kBehind = {"=", ";", ",", "(", "{", "[", ":"};
  return at + 1 >= last || kBehind.count(host.token(at + 1).text) > 0;
}

/// Makes the name another one of the variable it is initialised with; false if it gets a value of
/// its own, as a reference to a temporary does.
bool refer(HostState& host, const CType& type, HostValue& value, TokenRange initializer,
           const cuda_source::Token& name) {
  const size_t slot = aliased(host, type, value);
  if (slot != HostValue::kNoSlot) {
    host.scopes.back()[name.text] = slot;
    return true;
  }
  const bool lost = value.is(HostValue::Kind::Address) || value.member >= 0 ||
                    (value.slot == HostValue::kNoSlot && may_be_place(host, initializer));
  if (lost && !value.is(HostValue::Kind::Unknown)) {
    host.problem(name, fmt::format("the reference '{}' is not followed", name.text),
                 "use the variable itself, or a copy");
    value = unknown_value("a reference", name);
  }
  return false;
}

void declarator(HostState& host, const CType& type, size_t stop) {
  const cuda_source::Token name = host.token(host.at++);
  HostValue value;
  if (type.base == "dim3" && type.pointers == 0) {
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
  TokenRange initializer = {stop, stop};
  if (assigns) {
    initializer = {host.at + 1, stop};
    value = evaluate(host, initializer);
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
    initializer = inner;
    if (inner.first < inner.last)
      value = evaluate(host, inner);
    else if (integer_kind(type))
      value = integer_value(number(0), *integer_kind(type));
  } else if (braces) {  // for its effects
    evaluate(host, {host.at + 1, cuda_source::behind_bracket(host.tokens(), host.at, stop) - 1});
  }
  if (type.reference && refer(host, type, value, initializer, name)) return;
  if (type.base == "dim3" && type.pointers == 0 && !value.is(HostValue::Kind::Unknown)) {
    value.extents = extents_of(host, value, name, "this dim3");
    value.kind = HostValue::Kind::Extents;
  }
  if (!is_array && value.is(HostValue::Kind::List) && value.items.size() == 1) {
    const HostValue only = value.items.front();
    value = only;
  }
  value = converted(host, value, is_array ? CType{} : type, name);
  check_kept(host, type, value, name);
  value.slot = value.is(HostValue::Kind::Address) ? value.slot : HostValue::kNoSlot;
  value.home = HostValue::kNoSlot;
  value.member = -1;
  host.declare(name.text, is_array ? CType{} : type, std::move(value));
}

/// The '*' behind the words of a type, which belong to its first name only.
int stars_of(const HostState& host, TokenRange range) {
  int stars = 0;
  for (size_t i = range.last; i > range.first; --i) {
    const cuda_source::Token& token = host.token(i - 1);
    if (!token.is("*") && !token.is("&") && !token.is("&&") && !token.is("const") &&
        !token.text.starts_with("__restrict"))
      break;
    stars += token.is("*");
  }
  return stars;
}

bool declaration(HostState& host, size_t stop) {
  const size_t start = host.at;
  if (host.here().is("using")) {
    size_t at = host.at + 3;
    const auto type = read_type(host.tokens(), at, stop, host.types);
    if (host.token(start + 2).is("="))
      add_type_name(host.types, host.token(start + 1).text,
                    type && at + 1 == stop ? *type : unknown_type("an alias"));
    return true;
  }
  if (host.here().is("typedef")) {
    size_t at = host.at + 1;
    const auto type = read_type(host.tokens(), at, stop, host.types);
    const bool plain = type && at + 2 == stop && host.token(at).identifier();
    if (!plain) host.problem(host.token(start), "this 'typedef' is not followed", "write 'using'");
    if (plain) add_type_name(host.types, host.token(at).text, *type);
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
    if (one.first != names) {  // each name has its own '*' and '&'
      type.pointers = base.pointers - stars_of(host, {start, names});
      type.reference = false;
    }
    for (; host.at < one.last && (host.here().is("*") || host.here().is("&") ||
                                  host.here().is("&&") || host.here().is("const"));
         ++host.at) {
      type.pointers += host.here().is("*");
      type.reference = type.reference || host.here().text.starts_with("&");
    }
    if (host.at < one.last && host.here().identifier()) declarator(host, type, one.last);
  }
  return true;
}

Flow run_loop(HostState& host, TokenRange condition, TokenRange step, size_t body,
              bool check_first) {
  const cuda_source::Token where = host.token(condition.first);
  for (int turn = 0; !host.broken && !host.out.path.refused; ++turn) {
    if (turn > 0 || check_first) {
      const bool forever = condition.first >= condition.last;
      const HostValue value = forever ? integer_value(number(1)) : evaluate(host, condition);
      const TermRef term = is_assumed(value) ? nullptr : condition_of(value);
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
  const size_t first_slot = host.slots.size();
  if (parts[0].first < parts[0].last && !declaration(host, parts[0].last)) evaluate(host, parts[0]);
  Flow flow = Flow::Next;
  const auto saved = std::pair(host.at, host.end);
  if (!host.broken && !repeat_loop(host, parts[1], parts[2], close, first_slot))
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

/// The handlers are not read: what is thrown inside is a problem, and they may not launch.
Flow try_statement(HostState& host, size_t start, size_t stop) {
  const size_t end = behind_statement(host, start + 1);
  check_left_out(host, {end, stop});
  ++host.tries;
  host.at = start + 1;
  const Flow flow = block(host, {start + 2, end - 1});
  --host.tries;
  return flow;
}

Flow return_statement(HostState& host, size_t stop) {
  ++host.at;
  host.result = host.at + 1 < stop ? evaluate(host, {host.at, stop - 1}) : HostValue{};
  if (!host.result.is(HostValue::Kind::Address)) host.result.slot = HostValue::kNoSlot;
  host.result.home = HostValue::kNoSlot;
  host.result.member = -1;
  return Flow::Return;
}

}  // namespace

size_t behind_statement(const HostState& host, size_t at, int depth) {
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

HostValue condition_value(HostState& host, TokenRange range) {
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
    flow = try_statement(host, start, stop);
  } else if (first.is("return")) {
    flow = return_statement(host, stop);
  } else if (first.is("break")) {
    flow = Flow::Break;
  } else if (first.is("continue")) {
    flow = Flow::Continue;
  } else if (first.is("throw")) {
    if (host.tries > 0) {
      host.problem(first, "what is thrown here is caught", "end the call where it is found");
      host.broken = true;
    }
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
