// Index arithmetic: where an element of one tensor lies in another. An index is a graph::Dim whose
// names are loop variables beside the task's dims; what cannot be said as a polynomial becomes a
// quotient or remainder in parentheses. Not for values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/dim.h"

namespace kw::generate {

using graph::Dim;
using graph::Shape;
using Index = std::vector<Dim>;

/// How far variables reach: 0 <= name < extent.
using Ranges = std::map<std::string, Dim>;

/// A variable of a loop.
Dim variable(const std::string& name);
/// Identifiers in an expression, those inside quotients too.
std::vector<std::string> identifiers(const std::string& text);
bool mentions(const Dim& expr, const std::string& name);

/// With names replaced; names inside quotients and remainders are replaced in their text.
Dim substitute(const Dim& expr, const std::map<std::string, Dim>& by);
/// A text with names replaced, in parentheses where they need them.
std::string reworded(const std::string& text, const std::map<std::string, Dim>& by);
/// With another value beside it: substitute() knows none, yet dims compare and choose by theirs.
Dim with_value(const Dim& expr, int64_t value);
/// What `name` is multiplied with where the rest does not contain it; nothing where the expression
/// is not linear in it.
std::optional<Dim> coefficient(const Dim& expr, const std::string& name);

/// Whether it holds wherever code runs, by what is known of the variables; none is negative.
bool never_negative(const Dim& expr);
bool surely_below(const Dim& expr, const Dim& limit, const Ranges& ranges);

/// a / b and a % b of numbers that are not negative, simplified by what is known of the variables.
Dim quotient(const Dim& a, const Dim& b, const Ranges& ranges);
Dim rest(const Dim& a, const Dim& b, const Ranges& ranges);

/// Row-major position of an index.
Dim linear(const Shape& shape, const Index& index);
/// The index at a row-major position.
Index unravel(const Dim& position, const Shape& shape, const Ranges& ranges);
/// Runs of dims of two shapes that number the same elements, as short as possible.
struct Group {
  size_t from_begin, from_end, to_begin, to_end;
};
std::vector<Group> groups_of(const Shape& from, const Shape& to);
/// The index in `to` of what lies at `index` of `from`: both have the same elements in row-major
/// order.
Index reshaped(const Shape& from, const Index& index, const Shape& to, const Ranges& ranges);

/// "(2 * D)" or "D": usable as a factor or divisor in a plan expression.
std::string as_factor(const Dim& dim);

}  // namespace kw::generate
