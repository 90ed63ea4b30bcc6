// Extents must be compared and printed as expressions, for guards and for generated code. A Dim is
// a polynomial over names with integer coefficients, so equal sums and products have equal texts.
// Quotients are not polynomials. A division is done exactly when it has no remainder; otherwise the
// quotient becomes a name of its own, such as "(D / 3)". A general algebra system would prove more
// equalities, but is much larger. Arithmetic saturates, so overflow cannot wrap around. The cost:
// some equal expressions with quotients have different texts and need a guard.
#include "graph/dim.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/text.h"

namespace kw::graph {

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

int64_t add_saturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? kMax : kMin;
}

int64_t multiply_saturating(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? kMax : kMin;
}

int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == -1) return multiply_saturating(a, -1);
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Orders monomials so that multiplication keeps the order: by degree, then by names.
struct LeadingLast {
  bool operator()(const std::vector<std::string>& a, const std::vector<std::string>& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a > b;
  }
};

}  // namespace

Dim::Dim(int64_t value) : value_(value) {
  if (value != 0) terms_[{}] = value;
}

Dim Dim::symbol(const std::string& name, int64_t value) { return Dim::name(name, value); }

Dim Dim::name(std::string text, int64_t value) { return Dim(value, {{{std::move(text)}, 1}}); }

bool Dim::is_constant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

void Dim::add_term(Terms& terms, const Monomial& factors, int64_t coefficient) {
  const auto [at, fresh] = terms.try_emplace(factors, coefficient);
  if (!fresh) at->second = add_saturating(at->second, coefficient);
  if (at->second == 0) terms.erase(at);
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim::Terms terms = a.terms_;
  for (const auto& [factors, coefficient] : b.terms_) Dim::add_term(terms, factors, coefficient);
  return Dim(add_saturating(a.value_, b.value_), std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  Dim::Terms terms;
  for (const auto& [left, left_coefficient] : a.terms_) {
    for (const auto& [right, right_coefficient] : b.terms_) {
      Dim::Monomial factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::ranges::sort(factors);
      Dim::add_term(terms, factors, multiply_saturating(left_coefficient, right_coefficient));
    }
  }
  return Dim(multiply_saturating(a.value_, b.value_), std::move(terms));
}

// Long division by the leading term of the divisor; false as soon as there is a remainder.
bool Dim::divide(Terms dividend, const Terms& divisor, Terms* quotient) {
  const auto leading = [](const Terms& terms) {
    return *std::ranges::max_element(
        terms, [](const auto& a, const auto& b) { return LeadingLast()(a.first, b.first); });
  };
  quotient->clear();
  const auto [divisor_factors, divisor_coefficient] = leading(divisor);
  for (int step = 0; !dividend.empty(); ++step) {
    const auto [factors, coefficient] = leading(dividend);
    const bool divides = coefficient != kMin && coefficient % divisor_coefficient == 0 &&
                         std::includes(factors.begin(), factors.end(), divisor_factors.begin(),
                                       divisor_factors.end());
    if (!divides || step > 64) return false;
    Monomial rest;
    std::set_difference(factors.begin(), factors.end(), divisor_factors.begin(),
                        divisor_factors.end(), std::back_inserter(rest));
    const int64_t ratio = coefficient / divisor_coefficient;
    add_term(*quotient, rest, ratio);
    for (const auto& [other, other_coefficient] : divisor) {
      Monomial product = rest;
      product.insert(product.end(), other.begin(), other.end());
      std::ranges::sort(product);
      add_term(dividend, product, multiply_saturating(-ratio, other_coefficient));
    }
  }
  return true;
}

// Generated code divides towards zero, like C. So the dividend inside a quotient must not be
// negative. Multiples of a constant divisor are taken out, and a dividend with only negative
// coefficients is negated.
std::optional<Dim> Dim::cancelled(const Dim& a, const Dim& b) {
  if (a.is_constant()) return std::nullopt;
  const Terms common = common_factor(a.terms_, b.terms_);
  Terms dividend, divisor;
  if (!divide(b.terms_, common, &divisor) || !divide(a.terms_, common, &dividend))
    return std::nullopt;
  const bool is_number = divisor.size() == 1 && divisor.begin()->first.empty();
  if (!is_number || divisor.begin()->second < 1) return std::nullopt;
  const int64_t by = divisor.begin()->second, shared = b.value_ / by;
  if (shared == 0 || a.value_ % shared != 0) return std::nullopt;  // saturated
  return floor_div(Dim(a.value_ / shared, std::move(dividend)), Dim(by));
}

Dim floor_div(const Dim& a, const Dim& b) {
  KW_CHECK(b.value_ != 0, "the caller has checked the divisor");
  if (b.value_ < 0) return floor_div(Dim(0) - a, Dim(0) - b);
  const int64_t value = floor_quotient(a.value_, b.value_);
  if (a.is_constant() && b.is_constant()) return Dim(value);
  Dim::Terms whole;
  if (Dim::divide(a.terms_, b.terms_, &whole)) return Dim(value, std::move(whole));
  if (!b.is_constant()) {
    if (const auto reduced = Dim::cancelled(a, b)) return *reduced;
    if (a.value_ < 0) return Dim(0) - floor_div(b - a - Dim(1), b);
    return Dim::name("(" + a.operand() + " / " + b.operand() + ")", value);
  }
  if (std::ranges::all_of(a.terms_,
                          [](const auto& term) { return term.second < 0 || term.first.empty(); })) {
    return Dim(0) - floor_div(Dim(b.value_ - 1) - a, b);
  }
  whole.clear();
  Dim rest(0);
  int64_t common = b.value_;
  for (const auto& [factors, coefficient] : a.terms_) {
    const int64_t left = floor_remainder(coefficient, b.value_);
    Dim::add_term(whole, factors, floor_quotient(coefficient, b.value_));
    Dim::add_term(rest.terms_, factors, left);
    // (2 * D + 1) / 4 is D / 2: a constant below the common factor cannot change the quotient.
    if (!factors.empty()) common = std::gcd(common, left);
  }
  if (!rest.is_constant()) {
    Dim::Terms reduced;
    for (const auto& [factors, coefficient] : rest.terms_) {
      Dim::add_term(reduced, factors, coefficient / common);
    }
    rest.terms_ = std::move(reduced);
    const std::string divisor = std::to_string(b.value_ / common);
    Dim::add_term(whole, {"(" + rest.operand() + " / " + divisor + ")"}, 1);
  }
  return Dim(value, std::move(whole));
}

Dim remainder(const Dim& a, const Dim& b) {
  KW_CHECK(b.value_ != 0, "the caller has checked the divisor");
  const int64_t value = floor_remainder(a.value_, b.value_);
  if (a.is_constant() && b.is_constant()) return Dim(value);
  Dim::Terms quotient;
  if (Dim::divide(a.terms_, b.terms_, &quotient)) return Dim(0);
  if (b.value_ < 0) {  // rare, so it is expressed through the quotient
    Dim left = a - b * floor_div(a, b);
    left.value_ = value;
    return left;
  }
  Dim rest = a;
  if (b.is_constant()) {
    rest.terms_.clear();
    for (const auto& [factors, coefficient] : a.terms_) {
      Dim::add_term(rest.terms_, factors, floor_remainder(coefficient, b.value_));
    }
    if (rest.is_constant()) return Dim(value);
  }
  return Dim::name("(" + rest.operand() + " % " + b.operand() + ")", value);
}

Dim min(const Dim& a, const Dim& b) {
  if ((a - b).is_constant()) return a.value_ <= b.value_ ? a : b;
  const auto [first, second] = std::minmax({a.text(), b.text()});  // copies: texts are temporaries
  return Dim::name("min(" + first + ", " + second + ")", std::min(a.value_, b.value_));
}

Dim max(const Dim& a, const Dim& b) {
  if ((a - b).is_constant()) return a.value_ >= b.value_ ? a : b;
  const auto [first, second] = std::minmax({a.text(), b.text()});  // copies: texts are temporaries
  return Dim::name("max(" + first + ", " + second + ")", std::max(a.value_, b.value_));
}

Dim::Terms Dim::common_factor(const Terms& a, const Terms& b) {
  int64_t number = 0;
  Monomial common = a.begin()->first;
  for (const Terms* terms : {&a, &b}) {
    for (const auto& [factors, coefficient] : *terms) {
      number = std::gcd(number, coefficient);
      Monomial both;
      std::set_intersection(common.begin(), common.end(), factors.begin(), factors.end(),
                            std::back_inserter(both));
      common = std::move(both);
    }
  }
  return {{common, number}};
}

std::string equal_text(const Dim& a, const Dim& b) {
  if (a.same_text(b)) return "";
  Dim left = a, right = b;
  if (!a.terms_.empty() && !b.terms_.empty()) {
    const Dim::Terms factor = Dim::common_factor(a.terms_, b.terms_);
    Dim::divide(a.terms_, factor, &left.terms_);
    Dim::divide(b.terms_, factor, &right.terms_);
  }
  if (left.is_constant()) std::swap(left, right);
  for (int side = 0; side < 2; ++side) {  // c * (x / c) == x means that x is a multiple of c
    const int64_t c = left.terms_.size() == 1 ? left.terms_.begin()->second : 1;
    if (c > 1 && (floor_div(right, Dim(c)) * Dim(c)).same_text(left)) {
      const std::string rest = remainder(right, Dim(c)).text();
      return rest.substr(1, rest.size() - 2) + " == 0";
    }
    std::swap(left, right);
  }
  std::string one = left.text(), other = right.text();
  if (!right.is_constant() && other < one) std::swap(one, other);
  return one + " == " + other;
}

// Inside a quotient, a single name or number needs no parentheses.
std::string Dim::operand() const {
  const bool one_name =
      terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1;
  if (one_name || (is_constant() && value_ >= 0)) return text();
  return "(" + text() + ")";
}

std::string Dim::text() const {
  if (is_constant()) return std::to_string(terms_.empty() ? 0 : terms_.begin()->second);
  std::string positive, negative;
  const auto append = [&](const Monomial& factors, int64_t coefficient) {
    std::string& side = coefficient > 0 ? positive : negative;
    const uint64_t size = coefficient > 0 ? static_cast<uint64_t>(coefficient)
                                          : uint64_t{0} - static_cast<uint64_t>(coefficient);
    std::string term = join(factors, " * ");
    if (factors.empty())
      term = std::to_string(size);
    else if (size != 1)
      term = std::to_string(size) + " * " + term;
    if (coefficient > 0)
      side += (side.empty() ? "" : " + ") + term;
    else
      side += " - " + term;
  };
  for (const auto& [factors, coefficient] : terms_) {
    if (!factors.empty()) append(factors, coefficient);
  }
  if (const auto constant = terms_.find({}); constant != terms_.end()) {
    append({}, constant->second);
  }
  if (positive.empty()) return "-" + negative.substr(3);
  return positive + negative;
}

std::vector<int64_t> values_of(const Shape& shape) {
  std::vector<int64_t> values;
  for (const Dim& dim : shape) values.push_back(dim.value());
  return values;
}

Dim count_of(const Shape& shape) {
  Dim count(1);
  for (const Dim& dim : shape) count = count * dim;
  return count;
}

std::string values_text(const Shape& shape) {
  std::vector<std::string> texts;
  for (const Dim& dim : shape) texts.push_back(std::to_string(dim.value()));
  return "[" + join(texts, ", ") + "]";
}

std::string shape_text(const Shape& shape) {
  std::vector<std::string> texts;
  for (const Dim& dim : shape) texts.push_back(dim.text());
  return "[" + join(texts, ", ") + "]";
}

}  // namespace kw::graph
