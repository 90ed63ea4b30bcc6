// The constants in a module's compiled code. A kernel that treats one value specially must hold
// that value, so the judge plants these constants in inputs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kw::inputs {

/// Candidates for values of inputs, without duplicates. Those that the code compares with come
/// first.
struct Immediates {
  std::vector<double> numbers;                         // for float inputs
  std::vector<int64_t> integers;                       // for integer inputs
  size_t compared_numbers = 0, compared_integers = 0;  // how many of each come from comparisons
};

/// Reads PTX. Text that does not parse has none.
Immediates immediates_of(std::string_view ptx);

/// Adds those of another variant of the same module.
void merge(const Immediates& from, Immediates* to);

}  // namespace kw::inputs
