#include "ops/op.h"

#include <iterator>

namespace kw::ops {

namespace {

constexpr OpInfo described(const char* name, OpKind kind, int inputs) {
  return {name, kind, inputs, kind == OpKind::Source || kind == OpKind::Movement ? 0.0 : 1.0};
}

constexpr OpInfo kTable[] = {
#define KW_OP(op, name, kind, inputs, ...)               \
  [] {                                                   \
    OpInfo row = described(#name, OpKind::kind, inputs); \
    __VA_ARGS__ return row;                              \
  }(),
#define KW_POINTWISE(op, name, inputs, ...) KW_OP(op, name, Pointwise, inputs, __VA_ARGS__)
#define EXACT row.exact = true;
#define JUMPS row.discontinuous = true;
#define COSTLY row.costly = true;
#define FLOPS(number) row.flops = number;
#define BETWEEN(shape) row.between = Between::shape;
#include "ops/table.def"
};
static_assert(std::size(kTable) == kOps, "one row per op");

// One hex digit per column counts it, so that no column is missing or given twice. An op that is
// not exact must state its error.
#define CUDA(...) +0x1
#define EXACT +0x10
#define ERRORS(...) +0x10
#define TORCH(names) +0x100
#define VALUE(...) +0x1000
#define GRAD(...) +0x10000
#define MAGNITUDE(expression) +0x100000
#define KW_FUNCTION(op, name, ...)           \
  static_assert((0 __VA_ARGS__) == 0x111111, \
                #op " needs CUDA, ERRORS, TORCH, VALUE, GRAD and MAGNITUDE");
#define KW_POINTWISE(op, name, inputs, ...)                             \
  static_assert(Op::op == Op::Cast || ((0 __VA_ARGS__) & 0xff) == 0x11, \
                #op " needs CUDA, and EXACT or ERRORS");
#include "ops/table.def"

}  // namespace

const OpInfo& op_info(Op op) { return kTable[static_cast<size_t>(op)]; }

std::optional<Op> op_from_name(std::string_view name) {
  for (int i = 0; i < kOps; ++i) {
    if (name == kTable[static_cast<size_t>(i)].name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

}  // namespace kw::ops
