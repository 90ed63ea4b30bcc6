// Which names plan lines may give to things, and small facts about dtypes that several files need.
// Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/dtype.h"

namespace kw::kernel {

/// The device's own numbers: SMS, L2_BYTES, SMEM_MAX.
const std::vector<std::string>& builtin_names();
/// Why nothing may be called this, e.g. "is a builtin"; "" when it may.
std::string reserved_name(std::string_view name);
/// Why no tunable may be called this; "" when one may.
std::string bad_tunable_name(std::string_view name);
/// did_you_mean() for names of a sane length; "" for others, so that no text makes a suggestion
/// expensive.
std::string suggestion(std::string_view name, const std::vector<std::string>& known);
/// Words of C++ that may stand in template arguments: types, literals, operators.
bool is_cpp_word(std::string_view name);

/// Smallest and largest value; uint64 ends at 2^63 - 1, because plan values are signed 64-bit
/// numbers.
std::pair<int64_t, int64_t> integer_range(tensor::DType type);

}  // namespace kw::kernel
