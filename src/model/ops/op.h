// The primitive operations of a graph. The builder composes every other PyTorch function of these.
// So interpreters, error bounds, derivatives and code generators need only this list. table.def has
// one row per op with the data that each of them uses.
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
/// Whether `op` lies between both in the order of the enum, both included.
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

/// The range of the results of a pointwise op when an operand is known only up to an interval.
enum class Between : uint8_t {
  ByEnds,      // between the results at the ends
  OverZero,    // the same; also 0 when an operand may be 0
  OverOne,     // the same; also 1 when the operand may be 0
  Wave,        // in -1 … 1
  Pole,        // by the ends, unless the last operand may be 0
  TanPoles,    // by the ends, unless a pole of tan lies between them
  GammaPoles,  // by the ends, unless a pole of the gamma function lies between them
  Anything
};

/// One row per op, in the order of the enum.
struct OpInfo {
  const char* name;  // "add", "cum_max_index": the name in printed graphs
  OpKind kind;
  int inputs;                  // -1: any number
  double flops;                // see FLOPS in table.def
  bool exact = false;          // returns an existing value or an integer: no rounding
  bool discontinuous = false;  // a small change of an input may cause a jump
  bool costly = false;         // better to keep the result than to compute it twice
  Between between = Between::ByEnds;
};
const OpInfo& op_info(Op op);
std::optional<Op> op_from_name(std::string_view name);

}  // namespace kw::ops
