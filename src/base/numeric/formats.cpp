#include "numeric/formats.h"

#include "numeric/small_float.h"

namespace kw::numeric {

// The conversions work at compile time. A few values check the formats in every build.
static_assert(float_to_fp16(65504.0f) == 0x7bff && float_to_fp16(65520.0f) == 0x7c00);
static_assert(double_to_e4m3(1e9) == 0x7e && double_to_e5m2(-1e9) == 0xfb);
static_assert(double_to_e2m1(5.0) == 0x6 && double_to_e2m1(100.0) == 0x7);
static_assert(bf16_to_float(0x3f80) == 1.0f && fp16_to_float(1) == 0x1p-24f);

}  // namespace kw::numeric
