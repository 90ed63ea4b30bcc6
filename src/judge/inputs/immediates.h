// The constants in a module's compiled code. A kernel that treats one value specially must hold
// that value, so the judge plants these constants in inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::inputs {

/// Candidates for values of inputs, without duplicates. Those that the code compares with come
/// first.
struct Immediates {
  std::vector<double> numbers;                         // for float inputs
  std::vector<int64_t> integers;                       // for integer inputs
  size_t compared_numbers = 0, compared_integers = 0;  // how many of each come from comparisons
  size_t left_out = 0;  // constants of comparisons for which there was no room
};

Immediates immediates_of(const ptx::Module& code);

/// Adds those of another variant of the same module.
void merge(const Immediates& from, Immediates* to);

}  // namespace kw::inputs
