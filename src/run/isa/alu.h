// What each register-only PTX instruction does to the 32 lanes of a warp. No memory, no control
// flow, no other lanes.
//
// A register file is plain bytes. A register of 1 or 2 bytes is 32 consecutive uint16_t (64 bytes),
// of 4 bytes 32 uint32_t (128), of 8 bytes 32 uint64_t (256), of 16 bytes 32 x 16 (512); a
// predicate is one uint32_t lane mask. Immediates and special registers are put by the decoder into
// slots of the same shape, so that every operand is a byte offset. Slots are 64-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/result.h"
#include "ptx/module.h"

namespace kw::isa {

struct AluArgs {
  uint32_t dst[4] = {};  // byte offsets in the register file
  uint32_t src[4] = {};
  uint32_t carry = 0;   // offset of the condition-code mask (add.cc, addc, …)
  uint32_t negate = 0;  // bit i: source i is a predicate written !%p
  uint32_t aux = 0;     // constant chosen by find_alu (e.g. a lop3 table), opaque to the caller
};

/// Executes for the lanes in `mask`; other lanes of the destinations keep their values.
using AluFn = void (*)(std::byte* file, const AluArgs& args, uint32_t mask);

/// How undefined input bits reach the destination (used only when a warp has met undefined data).
enum class TaintRule : uint8_t {
  AnyToAll,  // any undefined source bit makes the lane's whole result undefined
  Copy,      // bit for bit (mov, pack, unpack, truncating cvt): treated through the same AluFn on
             // shadow bits
  BitAnd,    // a defined 0 hides the other operand's undefined bit
  BitOr,     // a defined 1 hides it
  BitXor,    // bitwise union
  Shift,   // the same AluFn on the shadows with the real last source (amount, selector) if defined,
           // else AnyToAll
  Select,  // selp/slct: follows the chosen source when the selector (last source) is defined
};

enum class AluClass : uint8_t {
  Integer,
  Float16,
  Float32,
  Float64,
  Special,
  Convert,
  Move,
  Predicate
};

/// How the machine must place one operand.
struct Slot {
  uint8_t width =
      0;  // bytes per lane: 0 = predicate, else 2, 4, 8, 16 (8-bit registers are kept in 2)
  ptx::Type type =
      ptx::Type::None;  // how an immediate in this position is to be read and broadcast
};

struct Alu {
  AluFn fn = nullptr;
  AluClass cls = AluClass::Integer;
  TaintRule taint = TaintRule::AnyToAll;
  uint8_t dsts = 0, srcs = 0;
  Slot dst[4], src[4];
  bool reads_carry = false, writes_carry = false;
  uint32_t aux = 0;
  uint8_t flops = 0;   // floating-point operations per lane (fma 2, half2 fma 4)
  int8_t folded = -1;  // flattened source operand that is part of aux (lop3's table): gets no slot,
                       // is not in srcs
};

/// True when `instruction` belongs to this module (else it is memory, control, collective or
/// tensor: vgpu's).
bool is_alu(const ptx::Instruction& instruction);

/// The semantics of one instruction, specialised for its modifiers and operand registers, for this
/// CPU's vector width. Blame::Input with "unsupported instruction …" when the form is not known.
/// Operand order in AluArgs: destinations and sources as written, vector operands flattened,
/// Discard destinations given a scratch slot by the caller.
Result<Alu> find_alu(const ptx::Instruction& instruction, const ptx::Function& function);

}  // namespace kw::isa
