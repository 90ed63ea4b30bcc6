// Test data from a seed: the same seed gives the same bytes on every host, whatever its libm. Not
// for secrets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "tensor/host_tensor.h"

namespace kw::tensor {

/// The distribution of the values of an input. Integers and bool follow it if the family has a
/// meaning for them.
enum class Family : uint8_t {
  Normal,    // bell-shaped, mean 0, deviation 1
  Uniform,   // floats in [-1, 1); integers over their range
  Heavy,     // heavy-tailed: rare values far above the usual size
  Spikes,    // normal values; one in 256 is scaled up by 6 to 1000, by type
  Offset,    // a large mean with a small deviation around it
  Denormal,  // floats below the smallest normal of their type
  Equal,     // one value everywhere
  Sorted,    // ascending
  Zeros,     // +0 and -0
  Special,   // normal, mixed with infinities, NaN and extreme values
  Ones,
  Iota,  // 0, 1, 2, …; restarts before values become inexact
};

const char* family_name(Family family);
std::optional<Family> family_from_name(std::string_view name);
std::vector<std::string> family_names();

/// Integers are drawn from [low, high], clipped to the type. The default is [-100, 100], or [0,
/// 200] when unsigned.
struct IntegerRange {
  int64_t low = 0;
  int64_t high = 0;
};

/// The values of an integer type, within int64.
IntegerRange integer_limits(DType dtype);

/// A tensor filled from (family, seed). Error when the size overflows or there is too little
/// memory.
Result<HostTensor> make_input(DType dtype, const std::vector<int64_t>& shape, Family family,
                              uint64_t seed, std::optional<IntegerRange> range = std::nullopt);

}  // namespace kw::tensor
