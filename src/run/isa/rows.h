// The table that connects the decoder with the lane loops: canonical instruction name -> handler.
// Each source listed as SIMD in the build gives one list of rows per x86-64 level. Internal to this
// module.
#pragma once

#include <span>

#include "isa/alu.h"

namespace kw::isa {

/// `name`: opcode, then modifiers in the fixed order of the decoder, then types: "add.ftz.sat.f32".
struct Row {
  const char* name;
  AluFn fn;
};

#define KW_ISA_DECLARE_LEVEL(level)    \
  namespace level {                    \
  std::span<const Row> integer_rows(); \
  std::span<const Row> bit_rows();     \
  std::span<const Row> float_rows();   \
  std::span<const Row> double_rows();  \
  std::span<const Row> half_rows();    \
  std::span<const Row> special_rows(); \
  std::span<const Row> compare_rows(); \
  std::span<const Row> move_rows();    \
  std::span<const Row> convert_rows(); \
  std::span<const Row> narrow_rows();  \
  }
KW_ISA_DECLARE_LEVEL(v2)
#ifdef KW_ONE_SIMD_LEVEL  // sanitized builds: the other levels take too long to compile
namespace v3 = v2;
namespace v4 = v2;
#else
KW_ISA_DECLARE_LEVEL(v3)
KW_ISA_DECLARE_LEVEL(v4)
#endif
#undef KW_ISA_DECLARE_LEVEL

}  // namespace kw::isa
