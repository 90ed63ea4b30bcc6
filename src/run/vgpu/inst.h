// The decoded form that a warp executes: flat instructions whose operands are byte offsets into the
// warp's register file. The decoder writes them, the warp loop reads them. Sources built per CPU
// level include this header too, so it has only plain structs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/alu.h"
#include "ptx/ptx_module.h"

namespace kw::vgpu {

inline constexpr int kLanes = 32;

enum class Op : uint8_t {
  Alu,
  Divide,  // an Alu whose result is undefined where its last source is zero
  LoadGlobal,
  StoreGlobal,
  LoadShared,
  StoreShared,  // global includes .const
  LoadOther,
  StoreOther,  // generic, local, and param by register
  LoadParam,   // kernel parameter at a fixed offset
  LoadFrame,
  StoreFrame,  // .param of calls: per-lane bytes inside the register file
  Atomic,
  AddressToWindow,
  AddressFromWindow,  // cvta
  IsSpace,
  Branch,
  BranchIndexed,
  Call,
  CallIndirect,
  CopyFrames,
  CopyIndirectFrames,
  Undefine,  // start of a function: registers that may be read before they are written
  EnterFrame,
  RestoreFrame,
  Return,
  Exit,
  Trap,
  Barrier,
  WarpSync,
  Fence,
  Nanosleep,
  Shuffle,
  Vote,
  Match,
  Redux,
  ActiveMask,
  Elect,
  ReadClock,
  Print,
  AssertFail,
  TensorLoad,
  TensorStore,
  TensorMma,
  GroupMma,
  GroupCommit,
  GroupWait,
  AsyncCopy,
  AsyncCommit,
  AsyncWait,
  Nop,
};

struct Inst {
  Op op = Op::Nop;
  uint8_t sub = 0;  // meaning depends on op
  uint16_t flags = 0;
  uint32_t guard = 0;       // offset of the guard's mask; offset 0 holds a mask that is always true
  uint32_t guard_flip = 0;  // ~0 for @!p
  uint32_t target = 0;      // branch target, or index into the side table of this op
  isa::AluFn fn = nullptr;
  isa::AluArgs args;
};

/// Of ALU instructions, divisions, loads, stores and shuffles: none of their registers can hold
/// undefined bits that were there when the kernel started.
inline constexpr uint16_t kFlagDefined = 1u << 15;

/// How strongly an access orders others. Strong: volatile, relaxed, mmio and all atomics. Seed: a
/// plain load whose value only starts a compare-and-swap loop on the same address. A Seed load does
/// not race and orders nothing.
enum class Order : uint8_t { Weak, Seed, Strong, Acquire, Release, AcquireRelease };

/// Which threads a strong access synchronises with.
enum class MemoryScope : uint8_t { Device, Block };

struct MemOp;
/// Moves data between registers and memory for the lanes in `mask`. RowMove uses lane0 + lane *
/// total, LaneMove uses base + offsets[lane].
using RowMove = void (*)(std::byte* file, const MemOp& op, std::byte* lane0, uint32_t mask);
using LaneMove = void (*)(std::byte* file, const MemOp& op, std::byte* base,
                          const uint32_t* offsets, uint32_t mask);

struct MemOp {
  ptx::Space space = ptx::Space::Generic;
  Order order = Order::Weak;
  MemoryScope scope = MemoryScope::Device;
  uint8_t width = 4;      // bytes of one element in memory
  uint8_t count = 1;      // elements per lane
  uint8_t total = 4;      // width * count: the required alignment
  uint8_t reg_width = 4;  // bytes per lane of each data register
  bool sign = false;      // sign-extend into a wider register
  bool is_store = false;
  bool cached = true;      // a load that may find its value in the cache of its SM
  bool read_only = false;  // ld.global.nc: its cache is never told of writes
  bool address64 = true;
  uint32_t address = 0;   // slot
  int64_t offset = 0;     // added to the address
  uint32_t data[8] = {};  // slots, `count` of them
  RowMove row = nullptr;
  LaneMove lanes = nullptr;
};

enum class AtomicOp : uint8_t { Add, Min, Max, And, Or, Xor, Inc, Dec, Exchange, Cas };

struct AtomicInst {
  MemOp mem;  // data: destinations, if has_result
  AtomicOp op = AtomicOp::Add;
  ptx::Type type = ptx::Type::U32;
  bool has_result = false;
  uint32_t operand[4] = {};  // slots of b; several for vectors
  uint32_t swap = 0;         // slot of c, for cas
};

/// A call copies argument bytes between frames, lane by lane.
struct FrameCopy {
  uint32_t from = 0, to = 0;              // offsets of lane 0
  uint32_t from_bytes = 0, to_bytes = 0;  // per lane; also the distance between lanes
};

enum class ShuffleMode : uint8_t { Up, Down, Butterfly, Index };
enum class VoteMode : uint8_t { All, Any, Uni, Ballot };
enum class MatchMode : uint8_t { Any, All };
enum class ReduxOp : uint8_t { Add, Min, Max, And, Or, Xor };

/// Collectives use args.src[0] for the value or predicate, src[1] for the lane, src[2] for the
/// clamp and src[3] for the mask of lanes.
inline constexpr uint16_t kFlagHasMask = 1;    // args.src[3] is a membermask
inline constexpr uint16_t kFlagSecondDst = 2;  // args.dst[1] is a predicate
inline constexpr uint16_t kFlagWide = 4;       // 64-bit value
inline constexpr uint16_t kFlagSigned = 8;
inline constexpr uint16_t kFlagNegate = 16;  // source predicate is negated

struct BarrierInst {
  enum class Kind : uint8_t { Sync, Arrive, RedPopc, RedAnd, RedOr } kind = Kind::Sync;
  bool aligned = true;
  bool has_count = false;
  bool uniform = false;    // id and count are constants
  bool negate = false;     // of the predicate
  uint32_t id = 0;         // slot
  uint32_t count = 0;      // slot
  uint32_t predicate = 0;  // slot
  uint32_t dst = 0;        // slot: 32-bit for popc, mask for and/or
};

}  // namespace kw::vgpu
