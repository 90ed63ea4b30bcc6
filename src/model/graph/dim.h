// An extent of a tensor: its value in this trace, and its expression over the dims of the task. One
// trace thus serves the interpreter (values) and code generators (expressions).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kw::graph {

/// A polynomial over names with integer coefficients, and its value. A quotient with a remainder is
/// a name of its own: "(D / 3)". Arithmetic saturates at the ends of int64. A saturated value is
/// refused as an extent.
class Dim {
 public:
  Dim(int64_t value = 0);
  static Dim symbol(const std::string& name, int64_t value);

  int64_t value() const { return value_; }
  bool is_constant() const;
  /// In the expression grammar of kernel modules: "B", "2 * D + 1", "(D / 3)", "1024". Equal
  /// polynomials have equal texts.
  std::string text() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  /// Python's // and %. The value of the divisor must not be 0.
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim remainder(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  /// The condition that both are equal, without their common factors: "B == D", or "D % 3 == 0" for
  /// 3 * (D / 3) and D. "" when they are always equal.
  friend std::string equal_text(const Dim& a, const Dim& b);

  /// Equal values. same_text() tells whether they are equal for all values of the names.
  bool operator==(const Dim& other) const { return value_ == other.value_; }
  bool same_text(const Dim& other) const { return terms_ == other.terms_; }
  /// The polynomial: product of names (empty: the constant term) -> coefficient, never 0.
  const std::map<std::vector<std::string>, int64_t>& terms() const { return terms_; }

 private:
  using Monomial = std::vector<std::string>;  // factors, sorted; empty for the constant term
  using Terms = std::map<Monomial, int64_t>;  // no zero coefficients
  Dim(int64_t value, Terms terms) : value_(value), terms_(std::move(terms)) {}
  static Dim name(std::string text, int64_t value);
  std::string operand() const;
  static void add_term(Terms& terms, const Monomial& factors, int64_t coefficient);
  static bool divide(Terms dividend, const Terms& divisor, Terms* quotient);
  static Terms common_factor(const Terms& a, const Terms& b);
  /// The quotient without common factors, where that leaves a number: E / 8 for (E * T) / (8 * T).
  static std::optional<Dim> cancelled(const Dim& a, const Dim& b);

  int64_t value_ = 0;
  Terms terms_;
};

using Shape = std::vector<Dim>;

/// The values alone, as tensors need them.
std::vector<int64_t> values_of(const Shape& shape);
/// Product of the extents (1 for rank 0).
Dim count_of(const Shape& shape);
/// "[4, 32]".
std::string values_text(const Shape& shape);
/// "[B, 2 * D]".
std::string shape_text(const Shape& shape);

}  // namespace kw::graph
