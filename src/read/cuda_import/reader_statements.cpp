// The problem: branches and loops of a launcher decide which kernels run. The choice: a branch that
// only changes integers becomes a pick() expression; any other is a decision of the path. A loop
// with constant bounds is unrolled; one that depends on the shape becomes 'repeat'. The
// alternative, a path for every branch, doubles the launch groups with each if. The cost: merging
// runs both branches on copies of the state and restores it if one does more.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cuda_import/host_code_reader.h"

namespace kw::cuda_import {

namespace {

constexpr size_t kMostSteps = 20000;
constexpr int kMostNested = 150;
constexpr int kMostTurns = 256;
const std::set<std::string> kStreams = {"cout", "cerr", "clog", "printf"};
const std::set<std::string> kSkipped = {"static_assert", "assert", "delete", "typedef"};

}  // namespace

std::vector<HostCodeReader::Range> HostCodeReader::split(Range range,
                                                         std::string_view separator) const {
  std::vector<Range> out;
  const std::vector<cuda_source::Token>& code = codes_[code_];
  const size_t last = std::min(range.last, code.size());
  size_t first = range.first;
  for (size_t i = range.first; i < last; ++i) {
    const std::string& text = code[i].text;
    if (text == "(" || text == "[" || text == "{") {
      i = cuda_source::behind_bracket(code, i, last) - 1;
    } else if (text == "<" && i > first && code[i - 1].identifier()) {
      const size_t end = cuda_source::behind_angles(code, i, last);
      const bool templates =
          end > i && end < last && (code[end].is("(") || code[end].is("::") || code[end].is("{"));
      if (templates) i = end - 1;
    } else if (text == separator) {
      out.push_back({first, i});
      first = i + 1;
    }
  }
  if (first < last || !out.empty()) out.push_back({first, last});
  return out;
}

size_t HostCodeReader::behind_statement(size_t at, int depth) const {
  const std::vector<cuda_source::Token>& code = codes_[code_];
  const size_t last = end_;
  if (at >= last) return last;
  if (depth > kMostNested) return last;
  const std::string& text = code[at].text;
  if (text == "{") return cuda_source::behind_bracket(code, at, last);
  if (text == "if" || text == "for" || text == "while" || text == "switch") {
    size_t open = at + 1;
    while (open < last && !code[open].is("(") && open < at + 3) ++open;
    if (open >= last || !code[open].is("(")) return std::min(at + 1, last);
    size_t end = behind_statement(cuda_source::behind_bracket(code, open, last), depth + 1);
    if (text == "if" && end < last && code[end].is("else"))
      end = behind_statement(end + 1, depth + 1);
    return end;
  }
  if (text == "try" || text == "else") {
    size_t end = behind_statement(at + 1, depth + 1);
    while (text == "try" && end + 1 < last && code[end].is("catch"))
      end = behind_statement(cuda_source::behind_bracket(code, end + 1, last), depth + 1);
    return end;
  }
  size_t end = text == "do" ? behind_statement(at + 1, depth + 1) : at;
  for (; end < last; ++end) {
    if (code[end].is("(") || code[end].is("[") || code[end].is("{"))
      end = cuda_source::behind_bracket(code, end, last) - 1;
    else if (code[end].is(";"))
      return end + 1;
  }
  return last;
}

HostCodeReader::Flow HostCodeReader::block(Range range) {
  const auto saved = std::pair(at_, end_);
  scopes_.emplace_back();
  at_ = range.first;
  end_ = std::min(range.last, codes_[code_].size());
  Flow flow = Flow::Next;
  while (at_ < end_ && flow == Flow::Next && !broken_ && !out_.path.refused) flow = statement();
  scopes_.pop_back();
  std::tie(at_, end_) = saved;
  return flow;
}

HostCodeReader::Flow HostCodeReader::statement() {
  const size_t start = at_, stop = behind_statement(start);
  const cuda_source::Token first = token(start);
  if (++steps_ > kMostSteps || depth_ > kMostNested) {
    problem(first, "the host code does not come to an end", "launch counts must be bounded");
    broken_ = true;
    return Flow::Return;
  }
  ++depth_;
  Flow flow = Flow::Next;
  if (first.is("{")) {
    flow = block({start + 1, stop - 1});
  } else if (first.is("if")) {
    flow = if_statement(start);
  } else if (first.is("for")) {
    flow = for_statement(start, stop);
  } else if (first.is("while")) {
    flow = while_statement(start, stop);
  } else if (first.is("do")) {
    flow = do_statement(start);
  } else if (first.is("switch")) {
    flow = switch_statement(start);
  } else if (first.is("try")) {
    at_ = start + 1;
    flow = block({start + 2, behind_statement(start + 1) - 1});
  } else if (first.is("return")) {
    flow = return_statement(stop);
  } else if (first.is("break")) {
    flow = Flow::Break;
  } else if (first.is("continue")) {
    flow = Flow::Continue;
  } else if (first.is("throw")) {
    out_.path.refused = true;
  } else if (first.is("goto")) {
    problem(first, "'goto' is not followed", "");
    broken_ = true;
  } else if (!first.is(";") && !first.is("}") && kSkipped.count(first.text) == 0 &&
             !declaration(stop)) {
    at_ = start;
    const bool prints = kStreams.count(first.text) > 0 ||
                        (first.is("std") && kStreams.count(token(start + 2).text) > 0);
    if (!prints) evaluate({start, stop - 1});
  }
  --depth_;
  at_ = stop;
  return flow;
}

HostValue HostCodeReader::condition(Range range) {
  const std::vector<Range> parts = split(range, ";");
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    at_ = parts[i].first;
    if (!declaration(parts[i].last)) evaluate(parts[i]);
  }
  const Range last = parts.empty() ? range : parts.back();
  at_ = last.first;
  const size_t before = slots_.size();
  if (looks_like_declaration(last.last) && declaration(last.last) && slots_.size() > before)
    return slots_.back().value;
  return evaluate(last);
}

HostCodeReader::Flow HostCodeReader::if_statement(size_t start) {
  size_t open = start + 1;
  if (token(open).is("constexpr")) ++open;
  const size_t close = cuda_source::behind_bracket(codes_[code_], open, end_);
  scopes_.emplace_back();
  const HostValue value = condition({open + 1, close - 1});
  const size_t behind = behind_statement(close);
  const bool has_else = behind < end_ && token(behind).is("else");
  const size_t other = has_else ? behind + 1 : HostValue::kNoSlot;
  const TermRef term = condition_of(value);
  Flow flow = Flow::Next;
  const bool merged = term && !term->constant() && merge_branches(term, close, other);
  if (!merged) {
    const bool holds = decide(value, token(open + 1));
    at_ = holds ? close : other;
    if (!broken_ && (holds || has_else)) flow = statement();
  }
  scopes_.pop_back();
  return flow;
}

/// Follows one branch; returns whether it only changed numbers.
bool HostCodeReader::quiet_branch(size_t body) {
  if (body == HostValue::kNoSlot) return true;
  const auto size = [this] {
    const auto zeroed = std::ranges::count(out_.path.scratch, true, &RecordedScratch::zero);
    return std::tuple(zeroed, out_.path.launches.size(), out_.path.scratch.size(),
                      out_.problems.size(), out_.path.conditions.size(), out_.path.repeats.size(),
                      out_.written.size(), out_.used.size());
  };
  const auto before = size();
  at_ = body;
  const Flow flow = statement();
  return flow == Flow::Next && size() == before && !broken_ && !out_.path.refused;
}

// if (n > 1024) threads = 512; does not need its own launch group: the number becomes a pick.
// Restores the state and returns false if a branch does more.
bool HostCodeReader::merge_branches(const TermRef& condition, size_t yes, size_t no) {
  const Followed saved_out = out_;
  const std::deque<Slot> saved_slots = slots_;
  const std::vector<Scope> saved_scopes = scopes_;
  const auto saved = std::tuple(taken_, broken_, at_);
  const TermRef which =
      condition->is_truth() ? condition : make_term(TermOp::NotEqual, {condition, number(0)});
  bool fine = quiet_branch(yes);
  const std::deque<Slot> after = slots_;
  slots_ = saved_slots;
  scopes_ = saved_scopes;
  fine = fine && quiet_branch(no);
  for (size_t i = 0; fine && i < saved_slots.size(); ++i) {
    const HostValue &a = after[i].value, &b = slots_[i].value;
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
    slots_[i].value = integer_value(picked);
  }
  if (fine) return true;
  out_ = saved_out;
  slots_ = saved_slots;
  scopes_ = saved_scopes;
  std::tie(taken_, broken_, at_) = saved;
  return false;
}

HostCodeReader::Flow HostCodeReader::for_statement(size_t start, size_t stop) {
  const size_t close = cuda_source::behind_bracket(codes_[code_], start + 1, end_);
  const std::vector<Range> parts = split({start + 2, close - 1}, ";");
  if (parts.size() != 3) {
    problem(token(start), "a loop over a range is not followed", "count with an index");
    return Flow::Next;
  }
  scopes_.emplace_back();
  at_ = parts[0].first;
  if (parts[0].first < parts[0].last && !declaration(parts[0].last)) evaluate(parts[0]);
  Flow flow = Flow::Next;
  const auto saved = std::pair(at_, end_);
  if (!broken_ && !repeat_loop(parts[1], parts[2], close))
    flow = run_loop(parts[1], parts[2], close, true);
  std::tie(at_, end_) = saved;
  scopes_.pop_back();
  at_ = stop;
  return flow;
}

HostCodeReader::Flow HostCodeReader::while_statement(size_t start, size_t) {
  const size_t close = cuda_source::behind_bracket(codes_[code_], start + 1, end_);
  return run_loop({start + 2, close - 1}, {}, close, true);
}

HostCodeReader::Flow HostCodeReader::do_statement(size_t start) {
  const size_t close = behind_statement(start + 1);
  if (!token(close).is("while")) return Flow::Next;
  const size_t end = cuda_source::behind_bracket(codes_[code_], close + 1, end_);
  return run_loop({close + 2, end - 1}, {}, start + 1, false);
}

HostCodeReader::Flow HostCodeReader::run_loop(Range condition, Range step, size_t body,
                                              bool check_first) {
  const cuda_source::Token where = token(condition.first);
  for (int turn = 0; !broken_ && !out_.path.refused; ++turn) {
    if (turn > 0 || check_first) {
      const bool forever = condition.first >= condition.last;
      const HostValue value = forever ? integer_value(number(1)) : evaluate(condition);
      const TermRef term = condition_of(value);
      if (!term || !term->constant()) {
        problem(where,
                fmt::format("how often this loop runs depends on the shape{}",
                            term ? ": " + term->text() : ""),
                "a plan repeats 'for (int i = A; i < B; ++i)' with the same launches, at most 64 "
                "times");
        return Flow::Next;
      }
      if (*term->constant() == 0) return Flow::Next;
    }
    if (turn >= kMostTurns) {
      problem(where, fmt::format("this loop runs more than {} times", kMostTurns), "");
      return Flow::Next;
    }
    at_ = body;
    const Flow flow = statement();
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
    if (step.first < step.last) {
      for (const Range& one : split(step)) evaluate(one);
    }
  }
  return Flow::Next;
}

HostCodeReader::Flow HostCodeReader::switch_statement(size_t start) {
  const size_t close = cuda_source::behind_bracket(codes_[code_], start + 1, end_);
  const HostValue value = evaluate({start + 2, close - 1});
  const size_t stop = behind_statement(start);
  size_t chosen = stop;
  size_t fallback = stop;
  for (size_t i = close + 1; i + 1 < stop && chosen == stop && !broken_; ++i) {
    if (token(i).is("(") || token(i).is("[") || token(i).is("{")) {
      i = cuda_source::behind_bracket(codes_[code_], i, stop) - 1;
    } else if (token(i).is("default")) {
      fallback = i + 2;
    } else if (token(i).is("case")) {
      size_t colon = i + 1;
      while (colon < stop && !token(colon).is(":")) ++colon;
      const HostValue label = evaluate({i + 1, colon});
      if (decide(combine("==", value, label, token(i)), token(i))) chosen = colon + 1;
      i = colon;
    }
  }
  if (chosen == stop) chosen = fallback;
  if (chosen >= stop || broken_) return Flow::Next;
  const auto saved = std::pair(at_, end_);
  scopes_.emplace_back();
  at_ = chosen;
  end_ = stop - 1;
  Flow flow = Flow::Next;
  while (at_ < end_ && flow == Flow::Next && !broken_ && !out_.path.refused) {
    if (token(at_).is("case") || token(at_).is("default")) {
      while (at_ < end_ && !token(at_).is(":")) ++at_;
      ++at_;
    } else {
      flow = statement();
    }
  }
  scopes_.pop_back();
  std::tie(at_, end_) = saved;
  return flow == Flow::Break ? Flow::Next : flow;
}

HostCodeReader::Flow HostCodeReader::return_statement(size_t stop) {
  ++at_;
  result_ = at_ + 1 < stop ? evaluate({at_, stop - 1}) : HostValue{};
  result_.slot = HostValue::kNoSlot;
  return Flow::Return;
}

bool HostCodeReader::looks_like_declaration(size_t stop) const {
  size_t at = at_;
  const size_t last = std::min(stop, codes_[code_].size());
  const auto type = read_type(codes_[code_], at, last, types_);
  if (!type || at >= last || !token(at).identifier()) return false;
  static const std::set<std::string> kBehind = {"=", ";", ",", "(", "{", "[", ":"};
  return at + 1 >= last || kBehind.count(token(at + 1).text) > 0;
}

bool HostCodeReader::declaration(size_t stop) {
  const size_t start = at_;
  if (token(at_).is("using")) {
    size_t at = at_ + 3;
    const auto type = read_type(codes_[code_], at, stop, types_);
    if (type && token(start + 2).is("=")) types_[token(start + 1).text] = *type;
    return true;
  }
  if (!looks_like_declaration(stop)) return false;
  const size_t last = stop > start && token(stop - 1).is(";") ? stop - 1 : stop;
  CType base = read_type(codes_[code_], at_, last, types_).value_or(CType{});
  const size_t names = at_;
  for (const Range& one : split({names, last})) {
    at_ = one.first;
    CType type = base;
    if (one.first != names) type.pointers = 0;  // each name has its own '*'
    for (; at_ < one.last && (token(at_).is("*") || token(at_).is("&") || token(at_).is("const"));
         ++at_)
      type.pointers += token(at_).is("*");
    if (at_ < one.last && token(at_).identifier()) declarator(type, one.last);
  }
  return true;
}

void HostCodeReader::declarator(const CType& type, size_t stop) {
  const cuda_source::Token name = token(at_++);
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
  while (at_ < stop && token(at_).is("[")) {
    at_ = cuda_source::behind_bracket(codes_[code_], at_, stop);
    is_array = true;
  }
  const bool assigns = at_ < stop && token(at_).is("=");
  const bool braces = at_ < stop && (token(at_).is("(") || token(at_).is("{"));
  if (assigns) {
    value = evaluate({at_ + 1, stop});
  } else if (braces && type.base == "dim3") {
    HostValue list;
    list.kind = HostValue::Kind::List;
    for (const Range& one :
         split({at_ + 1, cuda_source::behind_bracket(codes_[code_], at_, stop) - 1}))
      list.items.push_back(evaluate(one));
    value = std::move(list);
  } else if (braces && (type.dtype || type.pointers > 0 || type.base == "auto")) {
    const Range inner = {at_ + 1, cuda_source::behind_bracket(codes_[code_], at_, stop) - 1};
    if (inner.first < inner.last) value = evaluate(inner);
  }
  if (type.base == "dim3" && !value.is(HostValue::Kind::Unknown)) {
    value.extents = extents_of(value, name, "this dim3");
    value.kind = HostValue::Kind::Extents;
  }
  if (!is_array && value.is(HostValue::Kind::List) && value.items.size() == 1) {
    const HostValue only = value.items.front();
    value = only;
  }
  value = converted(value, is_array ? CType{} : type, name);
  value.slot = value.is(HostValue::Kind::Address) ? value.slot : HostValue::kNoSlot;
  value.member = -1;
  declare(name.text, is_array ? CType{} : type, std::move(value));
}

}  // namespace kw::cuda_import
