// The problem: C++ numbers have a width and plan expressions do not, so a term may stand for a C++
// value only where it stays within that value's type. The choice: intervals, from the leaves up,
// narrowed by comparisons that are known to hold. They are saturated at 64 bits, because a plan
// refuses a shape whose expressions leave them. The alternative, a solver, would prove more of what
// hardly any launcher writes. The cost: a difference of two dims has no sign here, and unsigned
// arithmetic with it is refused.
#include "cuda_import/term_range.h"

#include <algorithm>

namespace kw::cuda_import {
namespace {

__extension__ using Wide = __int128;

int64_t saturated(Wide value) {
  return static_cast<int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

TermBounds between(Wide a, Wide b) {
  return {saturated(std::min(a, b)), saturated(std::max(a, b))};
}

TermBounds hull(const TermBounds& a, const TermBounds& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

TermBounds products(const TermBounds& a, const TermBounds& b) {
  const Wide w[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                    Wide{a.high} * b.high};
  return between(*std::min_element(w, w + 4), *std::max_element(w, w + 4));
}

TermBounds quotients(const TermBounds& a, TermBounds b, bool up) {
  const Wide most = std::max<Wide>(a.high, -Wide{a.low});
  if (b.low < 0) return between(-most, most);
  b.low = std::max<int64_t>(b.low, 1);  // nothing is divided by 0
  b.high = std::max<int64_t>(b.high, 1);
  const auto divide = [&](int64_t x, int64_t y) { return Wide{x} / y + (up && x % y > 0 ? 1 : 0); };
  return {saturated(std::min(divide(a.low, b.low), divide(a.low, b.high))),
          saturated(std::max(divide(a.high, b.low), divide(a.high, b.high)))};
}

TermBounds remainders(const TermBounds& a, const TermBounds& b) {
  const Wide most = std::max<Wide>(std::max<Wide>(b.high, -Wide{b.low}) - 1, 0);
  return {a.low >= 0 ? 0 : saturated(std::max<Wide>(a.low, -most)),
          a.high <= 0 ? 0 : saturated(std::min<Wide>(a.high, most))};
}

/// Whether `part` is never above `whole`, which is at least 0: a share, a rest or a minimum of it.
bool is_part_of(const Term& part, const Term& whole, const TermBounds& divisor) {
  const bool shares = part.op == TermOp::Divide || part.op == TermOp::Remainder;
  if (!shares && part.op != TermOp::Min) return false;
  const std::string text = whole.text();
  if (part.parts[0]->text() == text) return !shares || divisor.low >= 0;
  return part.op == TermOp::Min && part.parts[1]->text() == text;
}

TermBounds intersection(const TermBounds& a, const TermBounds& b) {
  const TermBounds out = {std::max(a.low, b.low), std::min(a.high, b.high)};
  return out.low > out.high ? a : out;
}

void add_comparison(std::vector<std::pair<std::string, TermBounds>>& known, const TermRef& term,
                    TermOp op, int64_t bound) {
  TermBounds range;
  const int64_t below = bound == INT64_MIN ? bound : bound - 1;
  const int64_t above = bound == INT64_MAX ? bound : bound + 1;
  if (op == TermOp::Less) range.high = below;
  if (op == TermOp::LessEqual) range.high = bound;
  if (op == TermOp::Greater) range.low = above;
  if (op == TermOp::GreaterEqual) range.low = bound;
  if (op == TermOp::Equal) range = {bound, bound};
  if (op == TermOp::NotEqual) {
    if (term->range.low != bound) return;
    range.low = above;
  }
  known.emplace_back(term->text(), range);
}

TermOp mirrored(TermOp op) {
  switch (op) {
    case TermOp::Less:
      return TermOp::Greater;
    case TermOp::LessEqual:
      return TermOp::GreaterEqual;
    case TermOp::Greater:
      return TermOp::Less;
    case TermOp::GreaterEqual:
      return TermOp::LessEqual;
    default:
      return op;
  }
}

}  // namespace

void Facts::add(const TermRef& condition) {
  const Term& term = *condition;
  if (term.op == TermOp::And) {
    for (const TermRef& part : term.parts) add(part);
  } else if (term.op == TermOp::Not && term.parts[0]->op == TermOp::Or) {
    for (const TermRef& part : term.parts[0]->parts) add(negated(part));
  } else if (term.op >= TermOp::Less && term.op <= TermOp::NotEqual) {
    if (const auto bound = term.parts[1]->constant())
      add_comparison(known, term.parts[0], term.op, *bound);
    else if (const auto first = term.parts[0]->constant())
      add_comparison(known, term.parts[1], mirrored(term.op), *first);
  }
}

TermBounds range_of_parts(const Term& term, const std::vector<TermBounds>& parts) {
  switch (term.op) {
    case TermOp::Number:
      return {term.value, term.value};
    case TermOp::Negate:
      return between(-Wide{parts[0].low}, -Wide{parts[0].high});
    case TermOp::Multiply:
      return products(parts[0], parts[1]);
    case TermOp::Divide:
    case TermOp::CeilDiv:
      return quotients(parts[0], parts[1], term.op == TermOp::CeilDiv);
    case TermOp::Remainder:
      return remainders(parts[0], parts[1]);
    case TermOp::Add:
      return between(Wide{parts[0].low} + parts[1].low, Wide{parts[0].high} + parts[1].high);
    case TermOp::Subtract: {
      TermBounds out =
          between(Wide{parts[0].low} - parts[1].high, Wide{parts[0].high} - parts[1].low);
      const Term& less = *term.parts[1];
      const TermBounds divisor = less.parts.size() == 2 ? less.parts[1]->range : TermBounds{};
      const bool counted = less.op == TermOp::Min || parts[0].low >= 0;
      if (out.low < 0 && counted && is_part_of(less, *term.parts[0], divisor)) out.low = 0;
      return out;
    }
    case TermOp::Min:
      return {std::min(parts[0].low, parts[1].low), std::min(parts[0].high, parts[1].high)};
    case TermOp::Max:
      return {std::max(parts[0].low, parts[1].low), std::max(parts[0].high, parts[1].high)};
    case TermOp::Pick: {
      TermBounds out = parts[1];
      for (size_t i = 2; i < parts.size(); ++i) out = hull(out, parts[i]);
      return out;
    }
    case TermOp::Name:
    case TermOp::BlocksPerSm:
      return term.range;
    default:
      return {0, 1};  // comparisons, !, &&, ||
  }
}

TermBounds range_of(const Term& term, const Facts& facts) {
  std::vector<TermBounds> parts;
  for (const TermRef& part : term.parts) parts.push_back(range_of(*part, facts));
  TermBounds out = range_of_parts(term, parts);
  if (term.op == TermOp::Name && term.is_dim && facts.positive_dims)
    out.low = std::max<int64_t>(out.low, 1);
  if (term.op == TermOp::Number || facts.known.empty()) return out;
  const std::string text = term.text();
  for (const auto& [known, range] : facts.known) {
    if (known == text) out = intersection(out, range);
  }
  return out;
}

}  // namespace kw::cuda_import
