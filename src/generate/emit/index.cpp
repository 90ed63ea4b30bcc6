// The problem: indices of reshapes are quotients and remainders, which cost more than the work. The
// choice: polynomials over variables and dims, simplified by the ranges of variables. The
// alternative, a solver for integer sets, would simplify more. The cost: an index that no rule
// simplifies keeps its division.
#include "emit/index.h"

#include <algorithm>

#include "core/ascii.h"
#include "core/check.h"
#include "core/contains.h"

namespace kw::generate {

namespace {


bool starts_word(char c) { return is_name_char(c) && !(c >= '0' && c <= '9'); }

std::string operand(const Dim& expr) {
  const auto& terms = expr.terms();
  const bool one_name =
      terms.size() == 1 && terms.begin()->first.size() == 1 && terms.begin()->second == 1;
  const bool number = expr.is_constant() && (terms.empty() || terms.begin()->second >= 0);
  return one_name || number ? expr.text() : "(" + expr.text() + ")";
}

Dim product_of(const std::vector<std::string>& factors) {
  Dim product(1);
  for (const std::string& factor : factors) product = product * Dim::symbol(factor, 1);
  return product;
}

bool are_numbers(const Dim& a, const Dim& b) {
  return a.is_constant() && b.is_constant() && a.value() >= 0 && b.value() > 0;
}

/// The largest value, if every variable has a range and no term is negative. Names without a range
/// are dims and stay in the result.
std::optional<Dim> largest(const Dim& expr, const Ranges& ranges) {
  Dim bound(0);
  for (const auto& [factors, coefficient] : expr.terms()) {
    if (coefficient < 0) return std::nullopt;
    Dim term(coefficient);
    for (const std::string& factor : factors) {
      const auto range = ranges.find(factor);
      if (range != ranges.end()) {
        term = term * (range->second - Dim(1));
      } else if (factor.front() == '(') {
        return std::nullopt;
      } else {
        term = term * Dim::symbol(factor, 1);
      }
    }
    bound = bound + term;
  }
  return bound;
}

}  // namespace

bool never_negative(const Dim& expr) {
  return std::ranges::all_of(expr.terms(), [](const auto& term) { return term.second > 0; });
}

// No extent is 0 when code runs, so every name is at least 1.
bool surely_below(const Dim& expr, const Dim& limit, const Ranges& ranges) {
  const std::optional<Dim> bound = largest(expr, ranges);
  if (!bound) return false;
  const Dim gap = limit - Dim(1) - *bound;
  Dim shifted(0);
  for (const auto& [factors, coefficient] : gap.terms()) {
    Dim term(coefficient);
    for (const std::string& factor : factors) term = term * (Dim::symbol(factor, 1) + Dim(1));
    shifted = shifted + term;
  }
  return never_negative(shifted);
}

namespace {

/// The terms of `a` that are multiples of `b`, divided by it, and the other terms.
struct Split {
  Dim whole{0}, left{0};
};

Split split_by(const Dim& a, const Dim& b) {
  Split split;
  if (b.terms().size() != 1 || !never_negative(a)) {
    split.left = a;
    return split;
  }
  const auto& [factors, by] = *b.terms().begin();
  for (const auto& [names, coefficient] : a.terms()) {
    const bool divides = coefficient % by == 0 &&
                         std::includes(names.begin(), names.end(), factors.begin(), factors.end());
    if (!divides) {
      split.left = split.left + Dim(coefficient) * product_of(names);
      continue;
    }
    std::vector<std::string> others;
    std::set_difference(names.begin(), names.end(), factors.begin(), factors.end(),
                        std::back_inserter(others));
    split.whole = split.whole + Dim(coefficient / by) * product_of(others);
  }
  return split;
}

bool is_one(const Dim& dim) { return dim.is_constant() && dim.value() == 1; }

}  // namespace

Dim variable(const std::string& name) { return Dim::symbol(name, 0); }

std::vector<std::string> identifiers(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (is_name_char(text[at])) {
      while (end < text.size() && is_name_char(text[end])) ++end;
      if (starts_word(text[at])) words.push_back(text.substr(at, end - at));
    }
    at = end;
  }
  return words;
}

bool mentions(const Dim& expr, const std::string& name) {
  for (const auto& [factors, coefficient] : expr.terms()) {
    for (const std::string& factor : factors) {
      if (factor == name) return true;
      if (factor.size() <= name.size()) continue;
      const std::vector<std::string> words = identifiers(factor);
      if (contains(words, name)) return true;
    }
  }
  return false;
}

std::string reworded(const std::string& text, const std::map<std::string, Dim>& by) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!starts_word(text[at]) || (at > 0 && is_name_char(text[at - 1]))) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string word = text.substr(at, end - at);
    const auto found = by.find(word);
    out += found == by.end() ? word : operand(found->second);
    at = end;
  }
  return out;
}

Dim substitute(const Dim& expr, const std::map<std::string, Dim>& by) {
  Dim out(0);
  for (const auto& [factors, coefficient] : expr.terms()) {
    Dim term(coefficient);
    for (const std::string& factor : factors) {
      const auto found = by.find(factor);
      if (found != by.end()) {
        term = term * found->second;
      } else {
        term = term * Dim::symbol(reworded(factor, by), 1);
      }
    }
    out = out + term;
  }
  return out;
}

// Adding and subtracting a name changes the value but not the terms.
Dim with_value(const Dim& expr, int64_t value) {
  return expr + Dim::symbol("value", value - expr.value()) - Dim::symbol("value", 0);
}

std::optional<Dim> coefficient(const Dim& expr, const std::string& name) {
  Dim out(0);
  for (const auto& [factors, number] : expr.terms()) {
    const auto times = std::ranges::count(factors, name);
    std::vector<std::string> others;
    for (const std::string& factor : factors) {
      if (factor == name) continue;
      if (mentions(Dim::symbol(factor, 1), name)) return std::nullopt;
      others.push_back(factor);
    }
    if (times > 1) return std::nullopt;
    if (times == 1) out = out + Dim(number) * product_of(others);
  }
  return out;
}

Dim quotient(const Dim& a, const Dim& b, const Ranges& ranges) {
  if (is_one(b)) return a;
  if (surely_below(a, b, ranges)) return Dim(0);
  const Split split = split_by(a, b);
  if (split.left.terms().empty() || surely_below(split.left, b, ranges)) return split.whole;
  if (are_numbers(split.left, b)) return split.whole + Dim(split.left.value() / b.value());
  return split.whole + Dim::symbol("(" + operand(split.left) + " / " + operand(b) + ")", 0);
}

Dim rest(const Dim& a, const Dim& b, const Ranges& ranges) {
  if (is_one(b)) return Dim(0);
  if (surely_below(a, b, ranges)) return a;
  const Split split = split_by(a, b);
  if (split.left.terms().empty() || surely_below(split.left, b, ranges)) return split.left;
  if (are_numbers(split.left, b)) return Dim(split.left.value() % b.value());
  return Dim::symbol("(" + operand(split.left) + " % " + operand(b) + ")", 0);
}

Dim linear(const Shape& shape, const Index& index) {
  KW_CHECK(shape.size() == index.size(), "one index per dim");
  Dim position(0);
  for (size_t d = 0; d < shape.size(); ++d) {
    position = is_one(shape[d]) ? position : position * shape[d] + index[d];
  }
  return position;
}

Index unravel(const Dim& position, const Shape& shape, const Ranges& ranges) {
  Index index(shape.size(), Dim(0));
  Dim left = position;
  std::vector<Dim> stride(shape.size(), Dim(1));
  for (size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  for (size_t d = 0; d < shape.size(); ++d) {
    if (is_one(shape[d])) continue;
    index[d] = quotient(left, stride[d], ranges);
    left = rest(left, stride[d], ranges);
  }
  return index;
}

std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    Group group{i, i, j, j};
    Dim left(1), right(1);
    do {
      // Alternates if the products are equal: an extent may be 1 at this shape only.
      const bool behind =
          left.value() < right.value() ||
          (left.value() == right.value() && i - group.from_begin <= j - group.to_begin);
      const bool from_next = j == to.size() || (i < from.size() && behind);
      if (from_next && i < from.size()) {
        left = left * from[i++];
      } else {
        right = right * to[j++];
      }
    } while (!left.same_text(right) && (i < from.size() || j < to.size()));
    group.from_end = i;
    group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

Index reshaped(const Shape& from, const Index& index, const Shape& to, const Ranges& ranges) {
  Index out(to.size(), Dim(0));
  for (const Group& group : groups_of(from, to)) {
    const auto slice = [](const auto& all, size_t begin, size_t end) {
      return std::vector<Dim>(all.begin() + static_cast<long>(begin),
                              all.begin() + static_cast<long>(end));
    };
    const Shape from_shape = slice(from, group.from_begin, group.from_end);
    const Shape to_shape = slice(to, group.to_begin, group.to_end);
    const Index from_index = slice(index, group.from_begin, group.from_end);
    const Index part = unravel(linear(from_shape, from_index), to_shape, ranges);
    std::copy(part.begin(), part.end(), out.begin() + static_cast<long>(group.to_begin));
  }
  return out;
}

std::string as_factor(const Dim& dim) {
  const std::string text = dim.text();
  const bool simple = text.find_first_of("+-*/% ") == std::string::npos;
  return simple ? text : "(" + text + ")";
}

}  // namespace kw::generate
