#include "graph/term.h"

#include "core/check.h"

namespace kw::graph {

namespace {

Formula& formula_of(const Term& a, const Term& b) {
  Formula* formula = a.formula != nullptr ? a.formula : b.formula;
  KW_CHECK(formula != nullptr, "a formula has a tensor in it");
  return *formula;
}

// After a failure, the terms of a formula have no node.
Term failed_term(Formula& formula) { return Term(formula, -1); }

}  // namespace

Term Formula::operator()(Result<NodeId> x) {
  if (x) return Term(*this, *x);
  fail(std::move(x).error());
  return failed_term(*this);
}

void Formula::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Result<NodeId> Formula::done(const Term& term) {
  if (error_) return *error_;
  return term.value.node;
}

Result<NodeId> Formula::done(const Term& term, DType dtype) {
  if (error_) return *error_;
  return b_.cast(term.value.node, dtype);
}

Term apply(Op op, const Term& x) {
  Formula& f = formula_of(x, x);
  if (f.failed()) return failed_term(f);
  return f(f.builder().unary(op, x.value.node));
}

Term apply(Op op, const Term& a, const Term& b) {
  Formula& f = formula_of(a, b);
  if (f.failed()) return failed_term(f);
  return f(f.builder().binary(op, a.value, b.value));
}

Term where(const Term& condition, const Term& a, const Term& b) {
  Formula& f = formula_of(condition, a);
  if (f.failed()) return failed_term(f);
  return f(f.builder().where(condition.value.node, a.value, b.value));
}

Term cast(const Term& x, DType dtype) {
  Formula& f = formula_of(x, x);
  if (f.failed()) return failed_term(f);
  return f(f.builder().cast(x.value.node, dtype));
}

Term reduce(Op op, const Term& x, const std::vector<int>& dims) {
  Formula& f = formula_of(x, x);
  if (f.failed()) return failed_term(f);
  return f(f.builder().reduce(op, x.value.node, dims, true));
}

DType dtype_of(const Term& x) {
  Formula& f = formula_of(x, x);
  return f.failed() ? DType::Fp32 : f.builder().dtype(x.value.node);
}

Term wide(const Term& x) { return cast(x, opmath(float_type(dtype_of(x)))); }

}  // namespace kw::graph
