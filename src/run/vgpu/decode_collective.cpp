// Decodes shuffles, votes, matches, reductions, elect and bar.warp.sync. Their operand lists
// differ: an optional predicate result, an optional member mask. So each handler finds the sources
// from the number of operands. All of them use the same argument places, which inst.h lists, so
// that the code that runs them can share the mask handling. Forms that are not executed return
// false, and the caller reports the instruction.
#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

}  // namespace

// shfl[.sync].mode.b32 d[|p], a, b, c[, membermask]
bool Decoder::shuffle(const Instruction& in) {
  const bool sync = in.has("sync");
  const size_t sources = sync ? 4 : 3;
  if (in.operands.size() != sources + 1 && in.operands.size() != sources + 2) return false;
  const bool second = in.operands.size() == sources + 2;
  const size_t first = second ? 2 : 1;
  const auto dst = destination(in.operands[0], 4);
  const auto value = source(in.operands[first], 4, Type::B32);
  const auto lane = source(in.operands[first + 1], 4, Type::B32);
  const auto clamp = source(in.operands[first + 2], 4, Type::B32);
  if (!dst || !value || !lane || !clamp) return false;
  isa::AluArgs args;
  args.dst[0] = *dst;
  args.src[0] = *value;
  args.src[1] = *lane;
  args.src[2] = *clamp;
  uint16_t flags = 0;
  if (sync) {
    const auto mask = source(in.operands[first + 3], 4, Type::B32);
    if (!mask) return false;
    args.src[3] = *mask;
    flags |= kFlagHasMask;
  }
  if (second) {
    const auto predicate_slot = destination(in.operands[1], 0);
    if (!predicate_slot) return false;
    args.dst[1] = *predicate_slot;
    flags |= kFlagSecondDst;
  }
  ShuffleMode mode = ShuffleMode::Index;
  if (in.has("up"))
    mode = ShuffleMode::Up;
  else if (in.has("down"))
    mode = ShuffleMode::Down;
  else if (in.has("bfly"))
    mode = ShuffleMode::Butterfly;
  else if (!in.has("idx"))
    return false;
  Inst& inst = emit(Op::Shuffle);
  inst.sub = static_cast<uint8_t>(mode);
  inst.flags = flags;
  inst.args = args;
  return true;
}

// vote[.sync].mode.pred|b32 d, [!]p[, membermask]
bool Decoder::vote(const Instruction& in) {
  const bool sync = in.has("sync");
  if (in.operands.size() != (sync ? 3u : 2u)) return false;
  VoteMode mode = VoteMode::Ballot;
  if (in.has("all"))
    mode = VoteMode::All;
  else if (in.has("any"))
    mode = VoteMode::Any;
  else if (in.has("uni"))
    mode = VoteMode::Uni;
  else if (!in.has("ballot"))
    return false;
  const auto dst = destination(in.operands[0], mode == VoteMode::Ballot ? 4 : 0);
  bool negate = false;
  const auto value = predicate(in.operands[1], negate);
  if (!dst || !value) return false;
  isa::AluArgs args;
  args.dst[0] = *dst;
  args.src[0] = *value;
  if (sync) {
    const auto mask = source(in.operands[2], 4, Type::B32);
    if (!mask) return false;
    args.src[3] = *mask;
  }
  Inst& inst = emit(Op::Vote);
  inst.sub = static_cast<uint8_t>(mode);
  inst.flags = static_cast<uint16_t>((sync ? kFlagHasMask : 0) | (negate ? kFlagNegate : 0));
  inst.args = args;
  return true;
}

// match.any|all.sync.b32|b64 d[|p], a, membermask
bool Decoder::match(const Instruction& in) {
  if (in.types.empty() || (in.operands.size() != 3 && in.operands.size() != 4)) return false;
  const bool second = in.operands.size() == 4;
  const int width = ptx::type_size(in.types.back());
  const auto dst = destination(in.operands[0], 4);
  const auto value = source(in.operands[second ? 2 : 1], width, in.types.back());
  const auto mask = source(in.operands[second ? 3 : 2], 4, Type::B32);
  if (!dst || !value || !mask || (width != 4 && width != 8)) return false;
  isa::AluArgs args;
  args.dst[0] = *dst;
  args.src[0] = *value;
  args.src[3] = *mask;
  uint16_t flags = static_cast<uint16_t>(kFlagHasMask | (width == 8 ? kFlagWide : 0));
  if (second) {
    const auto predicate_slot = destination(in.operands[1], 0);
    if (!predicate_slot || !in.has("all")) return false;
    args.dst[1] = *predicate_slot;
    flags |= kFlagSecondDst;
  }
  Inst& inst = emit(Op::Match);
  inst.sub = static_cast<uint8_t>(in.has("all") ? MatchMode::All : MatchMode::Any);
  inst.flags = flags;
  inst.args = args;
  return true;
}

// redux.sync.op.type d, a, membermask
bool Decoder::redux(const Instruction& in) {
  if (in.types.size() != 1 || in.operands.size() != 3 || ptx::type_size(in.types[0]) != 4)
    return false;
  if (in.types[0] == Type::F32) return false;
  static constexpr std::pair<const char*, ReduxOp> kOps[] = {
      {"add", ReduxOp::Add}, {"min", ReduxOp::Min}, {"max", ReduxOp::Max},
      {"and", ReduxOp::And}, {"or", ReduxOp::Or},   {"xor", ReduxOp::Xor}};
  const ReduxOp* op = nullptr;
  for (const auto& [name, value] : kOps) {
    if (in.has(name)) op = &value;
  }
  const auto dst = destination(in.operands[0], 4);
  const auto value = source(in.operands[1], 4, in.types[0]);
  const auto mask = source(in.operands[2], 4, Type::B32);
  if (op == nullptr || !dst || !value || !mask) return false;
  Inst& inst = emit(Op::Redux);
  inst.sub = static_cast<uint8_t>(*op);
  inst.flags = static_cast<uint16_t>(kFlagHasMask | (in.types[0] == Type::S32 ? kFlagSigned : 0));
  inst.args.dst[0] = *dst;
  inst.args.src[0] = *value;
  inst.args.src[3] = *mask;
  return true;
}

bool Decoder::active_mask(const Instruction& in) {
  if (in.operands.size() != 1) return false;
  const auto dst = destination(in.operands[0], 4);
  if (!dst) return false;
  emit(Op::ActiveMask).args.dst[0] = *dst;
  return true;
}

// elect.sync d|p, membermask
bool Decoder::elect(const Instruction& in) {
  if (in.operands.size() != 3) return false;
  const auto dst = destination(in.operands[0], 4);
  const auto predicate_slot = destination(in.operands[1], 0);
  const auto mask = source(in.operands[2], 4, Type::B32);
  if (!dst || !predicate_slot || !mask) return false;
  Inst& inst = emit(Op::Elect);
  inst.flags = kFlagHasMask | kFlagSecondDst;
  inst.args.dst[0] = *dst;
  inst.args.dst[1] = *predicate_slot;
  inst.args.src[3] = *mask;
  return true;
}

bool Decoder::warp_sync(const Instruction& in) {
  if (in.operands.size() != 1) return false;
  const auto mask = source(in.operands[0], 4, Type::B32);
  if (!mask) return false;
  Inst& inst = emit(Op::WarpSync);
  inst.flags = kFlagHasMask;
  inst.args.src[3] = *mask;
  return true;
}

}  // namespace kw::vgpu
