// What each register-only PTX instruction does to the 32 lanes of a warp, without memory, control
// flow or other lanes.
//
// A register file is plain bytes. A register holds its 32 lanes one after the other:
//   1 or 2 bytes: uint16_t, 64 bytes in all; 4 bytes: uint32_t, 128 bytes;
//   8 bytes: uint64_t, 256 bytes; 16 bytes: 512 bytes.
// A predicate is one uint32_t lane mask. The decoder puts immediates and special registers into
// slots of the same shape, so that every operand is a byte offset. Slots are 64-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/result.h"
#include "ptx/ptx_module.h"

namespace kw::isa {

struct AluArgs {
  uint32_t dst[4] = {};  // byte offsets in the register file
  uint32_t src[4] = {};
  uint32_t carry = 0;   // offset of the condition-code mask (add.cc, addc, …)
  uint32_t negate = 0;  // bit i: source i is a predicate written !%p
  uint32_t aux = 0;     // constant chosen by find_alu (e.g. a lop3 table); opaque to the caller
};

/// Executes for the lanes in `mask`. Other lanes of the destinations keep their values.
using AluFn = void (*)(std::byte* file, const AluArgs& args, uint32_t mask);

/// How undefined input bits reach the destination. Used only when a warp has read undefined data.
enum class TaintRule : uint8_t {
  AnyToAll,  // any undefined source bit makes the lane's whole result undefined
  Copy,      // bit for bit (mov, pack, unpack, truncating cvt): runs the same AluFn on the shadow
             // bits
  BitAnd,    // a defined 0 hides the other operand's undefined bit
  BitOr,     // a defined 1 hides the other operand's undefined bit
  BitXor,    // bitwise union
  Shift,     // the same AluFn on the shadow bits, with the real last source (amount, selector) if
             // that is defined, otherwise AnyToAll
  Select,    // selp/slct: as the chosen source if the selector (last source) is defined
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
  uint8_t width = 0;                 // bytes per lane: 2 (8-bit too), 4, 8 or 16; 0: predicate
  ptx::Type type = ptx::Type::None;  // how an immediate here is read and broadcast
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
  int8_t folded = -1;  // index of the flattened source that is part of aux (lop3's table); it has
                       // no slot and is not in srcs
};

/// True when `instruction` belongs to this module. Otherwise it is a memory, control, collective or
/// tensor instruction of vgpu.
bool is_alu(const ptx::Instruction& instruction);

/// The semantics of one instruction, specialised for its modifiers, its operand registers and this
/// CPU's vector width. Blame::Input with "unsupported instruction …" when the form is not known.
/// AluArgs holds destinations and sources in the order written, with vector operands flattened. The
/// caller gives Discard destinations a scratch slot.
Result<Alu> find_alu(const ptx::Instruction& instruction, const ptx::Function& function);

}  // namespace kw::isa
