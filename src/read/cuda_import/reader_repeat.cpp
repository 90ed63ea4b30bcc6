// Loops whose number of iterations depends on the shape; they become 'repeat' in a plan.
#include <fmt/core.h>

#include <algorithm>

#include "cuda_import/host_code_reader.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

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

}  // namespace

// for (int i = A; i < B; ++i)
bool HostCodeReader::counts_up(Range condition, Range step) const {
  const Scope& scope = scopes_.back();
  if (scope.size() != 1 || condition.last < condition.first + 3) return false;
  const std::string& name = scope.begin()->first;
  const std::string& comparison = token(condition.first + 1).text;
  if (token(condition.first).text != name || (comparison != "<" && comparison != "<="))
    return false;
  std::string stepped;
  for (size_t i = step.first; i < step.last; ++i) stepped += token(i).text;
  return stepped == "++" + name || stepped == name + "++" || stepped == name + "+=1";
}

bool HostCodeReader::repeat_loop(Range condition, Range step, size_t body) {
  if (!counts_up(condition, step)) return false;
  const auto [name, slot] = *scopes_.back().begin();
  const bool inclusive = token(condition.first + 1).is("<=");
  const HostValue begin = slots_[slot].value;
  const HostValue end = evaluate({condition.first + 2, condition.last});
  if (!begin.is(Kind::Integer) || !end.is(Kind::Integer)) return false;
  if (begin.term->constant() && end.term->constant()) return false;  // unrolled instead
  const cuda_source::Token where = token(condition.first);
  if (repeat_ >= 0) {
    problem(where, "a loop of launches inside a loop of launches", "");
    broken_ = true;
    return true;
  }
  const TermRef behind = inclusive ? make_term(TermOp::Add, {end.term, number(1)}) : end.term;
  repeat_ = static_cast<int>(out_.path.repeats.size());
  out_.path.repeats.push_back({name, begin.term, behind});
  slots_[slot].value = integer_value(named(name));
  run_turn(begin.term, behind, name, body, where);
  repeat_ = -1;
  return true;
}

// One iteration represents all. Only two pointers may be swapped in it; iterations then alternate.
void HostCodeReader::run_turn(const TermRef& begin, const TermRef& end, const std::string& name,
                              size_t body, const cuda_source::Token& where) {
  const std::deque<Slot> before = slots_;
  const size_t launches = out_.path.launches.size();
  at_ = body;
  statement();
  std::vector<size_t> changed;
  for (size_t i = 0; i < before.size(); ++i) {
    if (!same_value(slots_[i].value, before[i].value)) changed.push_back(i);
  }
  if (changed.empty() || broken_) return;
  const auto swapped = [&](size_t i, size_t j) {
    const HostValue &now = slots_[i].value, &other = before[j].value;
    return now.is(Kind::Pointer) && !now.text.empty() && now.text == other.text &&
           now.items.empty();
  };
  if (changed.size() != 2 || !swapped(changed[0], changed[1]) || !swapped(changed[1], changed[0])) {
    problem(where,
            fmt::format("'{}' changes from one turn of this loop to the next",
                        before[changed.front()].name),
            "only the loop's own variable may, and two pointers that are swapped");
    broken_ = true;
    return;
  }
  const auto parity = [&](const TermRef& turn) {
    return make_term(TermOp::Remainder, {make_term(TermOp::Subtract, {turn, begin}), number(2)});
  };
  const HostValue a = before[changed[0]].value, b = before[changed[1]].value;
  out_.path.launches.resize(launches);
  slots_[changed[0]].value = either(parity(named(name)), a, b);
  slots_[changed[1]].value = either(parity(named(name)), b, a);
  at_ = body;
  statement();
  slots_[changed[0]].value = either(parity(end), a, b);
  slots_[changed[1]].value = either(parity(end), b, a);
}

}  // namespace kw::cuda_import
