// The problem: (n + 255) / 256 and B * D are 32 bits wide in C++ and 64 in a plan. The choice: what
// intervals prove needs nothing; otherwise large shapes leave the domain by a condition of the
// path, which becomes part of its 'when'. The alternative, writing the wrapped value, makes plans
// of remainders. The cost: where small shapes would wrap, as in size_t(n) - 256, nothing is
// excluded and the number is Unknown, so that the recorder sees what the host does.
#include "cuda_import/host_ranges.h"

#include <fmt/core.h>

#include <algorithm>

#include "cuda_import/host_state.h"
#include "cuda_import/term_range.h"

namespace kw::cuda_import {
namespace {

Facts facts_of(const HostState& host) {
  Facts facts;
  for (const TermRef& one : host.out.path.conditions) facts.add(one);
  for (const TermRef& one : host.out.path.domain) facts.add(one);
  for (const TermRef& one : host.assumptions) facts.add(one);
  return facts;
}

/// Whether a 'when' can say something about the term.
bool can_be_required(const HostState& host, const Term& term) {
  if (term.op == TermOp::BlocksPerSm) return false;
  if (host.repeat >= 0 && term.op == TermOp::Name &&
      term.name == host.out.path.repeats[static_cast<size_t>(host.repeat)].name)
    return false;
  return std::ranges::all_of(term.parts,
                             [&](const TermRef& part) { return can_be_required(host, *part); });
}

bool require(HostState& host, TermOp op, const TermRef& term, int64_t bound) {
  if (term->constant() || !can_be_required(host, *term)) return false;
  const TermBounds range = range_of(*term, facts_of(host));
  if (op == TermOp::LessEqual ? range.low > bound : range.high < bound)
    return false;  // nothing left
  TermRef condition = make_term(op, {term, number(bound)});
  for (const TermRef& one : host.out.path.domain) {
    if (one->text() == condition->text()) return true;
  }
  host.out.path.domain.push_back(std::move(condition));
  return true;
}

}  // namespace

bool nonnegative(HostState& host, const TermRef& term) {
  if (term->range.low >= 0) return true;
  Facts facts = facts_of(host);
  if (range_of(*term, facts).low >= 0) return true;
  facts.positive_dims = true;
  return range_of(*term, facts).low >= 0 && require(host, TermOp::GreaterEqual, term, 0);
}

bool within(HostState& host, const TermRef& term, int64_t bound) {
  if (term->range.low >= -bound && term->range.high <= bound) return true;
  const TermBounds range = range_of(*term, facts_of(host));
  if (range.low < -bound && !require(host, TermOp::GreaterEqual, term, -bound)) return false;
  return range.high <= bound || require(host, TermOp::LessEqual, term, bound);
}

HostValue fitted(HostState& host, const TermRef& term, IntKind kind,
                 const cuda_source::Token& where) {
  const int64_t least = lowest(kind), most = highest(kind);
  if (term->range.low >= least && term->range.high <= most) return integer_value(term, kind);
  if (bits_of(kind) == 64 && !is_unsigned(kind)) return integer_value(term, kind);
  const TermBounds range = range_of(*term, facts_of(host));
  const bool narrow = bits_of(kind) < 32;
  const auto unknown = [&](const char* what) {
    return unknown_value(fmt::format("a number of type '{}' that may be {}", kind_name(kind), what),
                         where);
  };
  if (range.low < least) {
    if (narrow) return unknown("out of its range");
    const bool fine = is_unsigned(kind)
                          ? nonnegative(host, term)
                          : require(host, TermOp::GreaterEqual, term, usual_least(kind));
    if (!fine) return unknown(is_unsigned(kind) ? "negative" : "out of its range");
  }
  if (range.high > most && (narrow || !require(host, TermOp::LessEqual, term, usual_most(kind))))
    return unknown("out of its range");
  return integer_value(term, kind);
}

Assumption::Assumption(HostState& host, TermRef condition)
    : host_(host), condition_(std::move(condition)), before_(host.out.path.domain.size()) {
  host.assumptions.push_back(condition_);
}

Assumption::~Assumption() {
  host_.assumptions.pop_back();
  std::vector<TermRef>& domain = host_.out.path.domain;
  const auto known = condition_->constant();
  if (known && *known == 0) domain.resize(std::min(domain.size(), before_));
  if (known) return;
  for (size_t i = before_; i < domain.size(); ++i)
    domain[i] = make_term(TermOp::Or, {negated(condition_), domain[i]});
}

}  // namespace kw::cuda_import
