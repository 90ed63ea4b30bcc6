// Whether a range holds a value, until std::ranges::contains of C++23.
#pragma once

#include <algorithm>
#include <iterator>

namespace kw {

template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace kw
