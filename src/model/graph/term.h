// Terms over a Builder that are written as formulas. A formula keeps its first Error, so only its
// end must be checked. Used by the composed operations and the rows of the front end.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/builder.h"

namespace kw::graph {

class Formula;

/// A tensor or a number inside a formula.
struct Term {
  Formula* formula = nullptr;
  Operand value;

  Term(Formula& f, NodeId id) : formula(&f), value(Operand::tensor(id)) {}
  Term(double number) : value(Operand::of(number)) {}
  Term(int number) : value(Operand::of(number)) {}
  Term(const Number& number) : value(Operand::of(number)) {}
  Term(const Dim& number) : value(Operand::of(number)) {}
  Term(Operand operand) : value(std::move(operand)) {}
};

class Formula {
 public:
  explicit Formula(Builder& b) : b_(b) {}

  Term operator()(NodeId x) { return Term(*this, x); }
  /// Adds a Result to the formula: its value, or its Error.
  Term operator()(Result<NodeId> x);
  Builder& builder() { return b_; }
  bool failed() const { return error_.has_value(); }
  void fail(Error error);
  /// The value of the formula, or its first Error.
  Result<NodeId> done(const Term& term);
  /// The same, converted to `dtype`.
  Result<NodeId> done(const Term& term, DType dtype);

 private:
  Builder& b_;
  std::optional<Error> error_;
};

Term apply(Op op, const Term& x);
Term apply(Op op, const Term& a, const Term& b);
Term where(const Term& condition, const Term& a, const Term& b);
Term cast(const Term& x, DType dtype);
/// Keeps the reduced dims as extents of 1.
Term reduce(Op op, const Term& x, const std::vector<int>& dims);
/// The dtype of a tensor term; fp32 after the formula has failed.
DType dtype_of(const Term& x);
/// Converts to the type kernels compute in; integers become fp32.
Term wide(const Term& x);

inline Term operator+(const Term& a, const Term& b) { return apply(Op::Add, a, b); }
inline Term operator-(const Term& a, const Term& b) { return apply(Op::Sub, a, b); }
inline Term operator*(const Term& a, const Term& b) { return apply(Op::Mul, a, b); }
inline Term operator/(const Term& a, const Term& b) { return apply(Op::Div, a, b); }
inline Term operator==(const Term& a, const Term& b) { return apply(Op::Eq, a, b); }
inline Term operator!=(const Term& a, const Term& b) { return apply(Op::Ne, a, b); }
inline Term operator<(const Term& a, const Term& b) { return apply(Op::Lt, a, b); }
inline Term operator<=(const Term& a, const Term& b) { return apply(Op::Le, a, b); }
inline Term operator>=(const Term& a, const Term& b) { return apply(Op::Ge, a, b); }
inline Term operator>(const Term& a, const Term& b) { return apply(Op::Gt, a, b); }
inline Term operator&(const Term& a, const Term& b) { return apply(Op::And, a, b); }
inline Term operator|(const Term& a, const Term& b) { return apply(Op::Or, a, b); }
// exp(x), log(x) … of terms.
#define KW_FUNCTION(op, name, ...) \
  inline Term name(const Term& x) { return apply(Op::op, x); }
#include "ops/table.def"
inline Term operator-(const Term& x) { return apply(Op::Neg, x); }
inline Term operator~(const Term& x) { return apply(Op::Not, x); }

}  // namespace kw::graph
