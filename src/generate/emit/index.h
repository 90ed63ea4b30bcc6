// Index arithmetic: the position of an element of one tensor in another. An index is a Dim
// whose names are loop variables and the task's dims. A part that is not a polynomial becomes a
// quotient or remainder in parentheses. Not for values of tensors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/graph_names.h"

namespace kw::generate {

using Index = std::vector<Dim>;

/// The ranges of variables: 0 <= name < extent.
using Ranges = std::map<std::string, Dim>;

/// A variable of a loop.
Dim variable(const std::string& name);
/// Identifiers in an expression, including those inside quotients.
std::vector<std::string> identifiers(const std::string& text);
bool mentions(const Dim& expr, const std::string& name);

/// The expression with names replaced, also in the text of quotients and remainders.
Dim substitute(const Dim& expr, const std::map<std::string, Dim>& by);
/// A text with names replaced, in parentheses if they need them.
std::string reworded(const std::string& text, const std::map<std::string, Dim>& by);
/// The expression with another value. substitute() does not set values, but dims are compared by
/// them.
Dim with_value(const Dim& expr, int64_t value);
/// The factor of `name` in an expression that is linear in it; otherwise empty.
std::optional<Dim> coefficient(const Dim& expr, const std::string& name);

/// Whether this holds at all shapes, from the ranges of the variables; no variable is negative.
bool never_negative(const Dim& expr);
bool surely_below(const Dim& expr, const Dim& limit, const Ranges& ranges);

/// a / b and a % b of numbers that are not negative, simplified by the ranges of the variables.
Dim quotient(const Dim& a, const Dim& b, const Ranges& ranges);
Dim rest(const Dim& a, const Dim& b, const Ranges& ranges);

/// The row-major position of an index.
Dim linear(const Shape& shape, const Index& index);
/// The index at a row-major position.
Index unravel(const Dim& position, const Shape& shape, const Ranges& ranges);
/// Groups of dims of two shapes that number the same elements, as short as possible.
struct Group {
  size_t from_begin, from_end, to_begin, to_end;
};
std::vector<Group> groups_of(const Shape& from, const Shape& to);
/// The index in `to` of the element at `index` of `from`; both have the same elements in row-major
/// order.
Index reshaped(const Shape& from, const Index& index, const Shape& to, const Ranges& ranges);

/// "(2 * D)" or "D": usable as a factor or divisor in a plan expression.
std::string as_factor(const Dim& dim);

}  // namespace kw::generate
