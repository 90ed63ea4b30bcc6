// Test bench for one instruction: takes PTX text and 32 lanes of source bits, returns 32 lanes of
// result bits. It runs on every x86-64 level of this CPU, with the full mask and with a partial
// one. All results must agree bit for bit. Tests only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/table.h"

namespace kw::isa {

using Lanes = std::array<uint64_t, 32>;

struct BenchResult {
  std::string error;       // empty when it ran
  std::vector<Lanes> dst;  // predicates as 0 or 1
  uint32_t carry = 0;
  Alu alu;
};

/// `text`: one instruction whose operands are %h (16-bit), %r (32), %d (64), %p (predicate) or %b
/// (8-bit) registers numbered from 0, e.g. "add.s32 %r0, %r1, %r2;". Sources get `sources` in
/// operand order.
BenchResult run_instruction(const std::string& text, const std::vector<Lanes>& sources,
                            uint32_t carry_in = 0);

/// Returns the decoded instruction, or the error text.
Result<Alu> decode_instruction(const std::string& text);

}  // namespace kw::isa
