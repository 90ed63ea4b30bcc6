// The names that plan lines may use, and small facts about dtypes that several files need.
// Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/dtype.h"

namespace kw::kernel {

/// The numbers of the device: SMS, L2_BYTES, SMEM_MAX.
const std::vector<std::string>& builtin_names();
/// Why a name is not allowed, e.g. "is a builtin"; "" when it is allowed.
std::string reserved_name(std::string_view name);
/// Why a tunable must not have this name; "" when it may.
std::string bad_tunable_name(std::string_view name);
/// did_you_mean() for names of normal length; "" for others, so that no text makes a suggestion
/// slow.
std::string suggestion(std::string_view name, const std::vector<std::string>& known);
/// Words that may occur in template arguments: C++ keywords, literals and known types.
bool is_cpp_word(std::string_view name);

/// The smallest and largest value. uint64 ends at 2^63 - 1, because plan values are signed 64-bit
/// numbers.
std::pair<int64_t, int64_t> integer_range(tensor::DType type);

}  // namespace kw::kernel
