// The primitive operations of a graph. Everything else PyTorch offers is composed of these by the
// builder, so interpreters, error bounds, derivatives and code generators know this list only.
// table.def has one row per op, with what each of these needs to know of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw::ops {

enum class Op : uint8_t {
#define KW_POINTWISE(op, ...) op,
#define KW_OP(op, ...) op,
#include "ops/table.def"
};
inline constexpr int kOps = static_cast<int>(Op::Scatter) + 1;
/// In the enum's order, both ends included.
inline bool between(Op op, Op first, Op last) { return first <= op && op <= last; }

enum class OpKind : uint8_t {
  Source,
  Pointwise,
  Reduction,
  Scan,
  Selection,
  Contraction,
  Movement
};

/// Where the results of a pointwise op lie when an operand is known up to an interval.
enum class Between : uint8_t {
  ByEnds,      // between the results at the ends
  OverZero,    // the same; 0 too when an operand may be 0
  OverOne,     // the same; 1 too when the operand may be 0
  Wave,        // in -1 … 1
  Pole,        // by the ends, unless the last operand may be 0
  TanPoles,    // by the ends, unless a pole of tan lies between them
  GammaPoles,  // by the ends, unless a pole of the gamma function lies between them
  Anything
};

/// One row per op, in the enum's order.
struct OpInfo {
  const char* name;  // "add", "cum_max_index": as printed graphs have it
  OpKind kind;
  int inputs;                  // -1: any number
  double flops;                // see FLOPS in table.def
  bool exact = false;          // gives a value that was there, or an integer: no own rounding
  bool discontinuous = false;  // a small change of an input may change the result by a jump
  bool costly = false;         // better kept than computed twice
  Between between = Between::ByEnds;
};
const OpInfo& op_info(Op op);
std::optional<Op> op_from_name(std::string_view name);

}  // namespace kw::ops
