#include "vgpu/matrix_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "numeric/small_float.h"
#include "vgpu/levels.h"

namespace kw::vgpu {

using ptx::Type;

double element_value(Type type, const std::byte* p) {
  switch (type) {
    case Type::F16:
    case Type::Bf16: {
      uint16_t bits = 0;
      std::memcpy(&bits, p, 2);
      return static_cast<double>(type == Type::F16 ? numeric::fp16_to_float(bits)
                                                   : numeric::bf16_to_float(bits));
    }
    case Type::Tf32:
    case Type::F32: {
      uint32_t bits = 0;
      std::memcpy(&bits, p, 4);
      if (type == Type::Tf32) bits &= 0xffffe000;  // tensor cores read the upper 19 bits
      return static_cast<double>(std::bit_cast<float>(bits));
    }
    case Type::F64: {
      double value = 0;
      std::memcpy(&value, p, 8);
      return value;
    }
    case Type::S8:
      return static_cast<double>(static_cast<int8_t>(*p));
    case Type::U8:
      return static_cast<double>(static_cast<uint8_t>(*p));
    default: {
      int32_t value = 0;
      std::memcpy(&value, p, 4);
      return static_cast<double>(value);
    }
  }
}

void element_values(Type type, const std::byte* p, int count, double* out) {
  if (floats_to_doubles(type, p, count, out)) return;
  const int size = ptx::type_size(type);
  for (int e = 0; e < count; ++e) out[e] = element_value(type, p + e * size);
}

void store_value(Type type, double value, bool saturate, std::byte* p) {
  if (type == Type::F16) {
    const uint16_t bits = numeric::double_to_fp16(value);
    std::memcpy(p, &bits, 2);
  } else if (type == Type::F32) {
    const float rounded = static_cast<float>(value);
    const uint32_t bits = rounded != rounded ? 0x7fffffff : std::bit_cast<uint32_t>(rounded);
    std::memcpy(p, &bits, 4);
  } else if (type == Type::F64) {
    std::memcpy(p, &value, 8);
  } else {
    // Sums of 8-bit products and a 32-bit integer are exact in double.
    const int64_t whole = static_cast<int64_t>(value);
    const int64_t low = std::numeric_limits<int32_t>::min(),
                  high = std::numeric_limits<int32_t>::max();
    const int64_t kept = saturate ? std::min(high, std::max(low, whole)) : whole;
    const uint32_t bits = static_cast<uint32_t>(kept);
    std::memcpy(p, &bits, 4);
  }
}

}  // namespace kw::vgpu
