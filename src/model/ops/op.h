// The primitive operations of a graph. The builder composes every other PyTorch function of these.
// So interpreters, error bounds, derivatives and code generators need only this list. table.def has
// one row per op with the data that each of them uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/between.h"

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
