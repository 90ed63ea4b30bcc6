// Decodes shuffles, votes, matches, reductions, elect and bar.warp.sync. Their operand lists
// differ: an optional predicate result, an optional member mask. So each handler finds the sources
// from the number of operands. All of them use the same argument places, which inst.h lists, so
// that the code that runs them can share the mask handling. Forms that are not executed return
// false, and the caller reports the instruction.
#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

// shfl[.sync].mode.b32 d[|p], a, b, c[, membermask]
bool decode_shuffle(Decoder& d, const Instruction& in) {
  const bool sync = in.has("sync");
  const size_t sources = sync ? 4 : 3;
  if (in.operands.size() != sources + 1 && in.operands.size() != sources + 2) return false;
  const bool second = in.operands.size() == sources + 2;
  const size_t first = second ? 2 : 1;
  const auto dst = d.destination(in.operands[0], 4);
  const auto value = d.source(in.operands[first], 4, Type::B32);
  const auto lane = d.source(in.operands[first + 1], 4, Type::B32);
  const auto clamp = d.source(in.operands[first + 2], 4, Type::B32);
  if (!dst || !value || !lane || !clamp) return false;
  isa::AluArgs args;
  args.dst[0] = *dst;
  args.src[0] = *value;
  args.src[1] = *lane;
  args.src[2] = *clamp;
  uint16_t flags = 0;
  if (sync) {
    const auto mask = d.source(in.operands[first + 3], 4, Type::B32);
    if (!mask) return false;
    args.src[3] = *mask;
    flags |= kFlagHasMask;
  }
  if (second) {
    const auto predicate_slot = d.destination(in.operands[1], 0);
    if (!predicate_slot) return false;
    args.dst[1] = *predicate_slot;
    flags |= kFlagSecondDst;
  }
  static constexpr std::pair<const char*, ShuffleMode> kModes[] = {{"idx", ShuffleMode::Index},
                                                                   {"bfly", ShuffleMode::Butterfly},
                                                                   {"down", ShuffleMode::Down},
                                                                   {"up", ShuffleMode::Up}};
  const ShuffleMode* mode = modified_by(in, kModes);
  if (mode == nullptr) return false;
  Inst& inst = d.emit(Op::Shuffle);
  inst.sub = static_cast<uint8_t>(*mode);
  inst.flags = flags;
  inst.args = args;
  return true;
}

// vote[.sync].mode.pred|b32 d, [!]p[, membermask]
bool decode_vote(Decoder& d, const Instruction& in) {
  const bool sync = in.has("sync");
  if (in.operands.size() != (sync ? 3u : 2u)) return false;
  static constexpr std::pair<const char*, VoteMode> kModes[] = {{"ballot", VoteMode::Ballot},
                                                                {"uni", VoteMode::Uni},
                                                                {"any", VoteMode::Any},
                                                                {"all", VoteMode::All}};
  const VoteMode* mode = modified_by(in, kModes);
  if (mode == nullptr) return false;
  const auto dst = d.destination(in.operands[0], *mode == VoteMode::Ballot ? 4 : 0);
  bool negate = false;
  const auto value = d.predicate(in.operands[1], negate);
  if (!dst || !value) return false;
  isa::AluArgs args;
  args.dst[0] = *dst;
  args.src[0] = *value;
  if (sync) {
    const auto mask = d.source(in.operands[2], 4, Type::B32);
    if (!mask) return false;
    args.src[3] = *mask;
  }
  Inst& inst = d.emit(Op::Vote);
  inst.sub = static_cast<uint8_t>(*mode);
  inst.flags = static_cast<uint16_t>((sync ? kFlagHasMask : 0) | (negate ? kFlagNegate : 0));
  inst.args = args;
  return true;
}

// match.any|all.sync.b32|b64 d[|p], a, membermask
bool decode_match(Decoder& d, const Instruction& in) {
  if (in.types.empty() || (in.operands.size() != 3 && in.operands.size() != 4)) return false;
  const bool second = in.operands.size() == 4;
  const int width = ptx::type_size(in.types.back());
  const auto dst = d.destination(in.operands[0], 4);
  const auto value = d.source(in.operands[second ? 2 : 1], width, in.types.back());
  const auto mask = d.source(in.operands[second ? 3 : 2], 4, Type::B32);
  if (!dst || !value || !mask || (width != 4 && width != 8)) return false;
  isa::AluArgs args;
  args.dst[0] = *dst;
  args.src[0] = *value;
  args.src[3] = *mask;
  uint16_t flags = static_cast<uint16_t>(kFlagHasMask | (width == 8 ? kFlagWide : 0));
  if (second) {
    const auto predicate_slot = d.destination(in.operands[1], 0);
    if (!predicate_slot || !in.has("all")) return false;
    args.dst[1] = *predicate_slot;
    flags |= kFlagSecondDst;
  }
  Inst& inst = d.emit(Op::Match);
  inst.sub = static_cast<uint8_t>(in.has("all") ? MatchMode::All : MatchMode::Any);
  inst.flags = flags;
  inst.args = args;
  return true;
}

// redux.sync.op.type d, a, membermask
bool decode_redux(Decoder& d, const Instruction& in) {
  if (in.types.size() != 1 || in.operands.size() != 3 || ptx::type_size(in.types[0]) != 4)
    return false;
  if (in.types[0] == Type::F32) return false;
  static constexpr std::pair<const char*, ReduxOp> kOps[] = {
      {"add", ReduxOp::Add}, {"min", ReduxOp::Min}, {"max", ReduxOp::Max},
      {"and", ReduxOp::And}, {"or", ReduxOp::Or},   {"xor", ReduxOp::Xor}};
  const ReduxOp* op = modified_by(in, kOps);
  const auto dst = d.destination(in.operands[0], 4);
  const auto value = d.source(in.operands[1], 4, in.types[0]);
  const auto mask = d.source(in.operands[2], 4, Type::B32);
  if (op == nullptr || !dst || !value || !mask) return false;
  Inst& inst = d.emit(Op::Redux);
  inst.sub = static_cast<uint8_t>(*op);
  inst.flags = static_cast<uint16_t>(kFlagHasMask | (in.types[0] == Type::S32 ? kFlagSigned : 0));
  inst.args.dst[0] = *dst;
  inst.args.src[0] = *value;
  inst.args.src[3] = *mask;
  return true;
}

bool decode_active_mask(Decoder& d, const Instruction& in) {
  if (in.operands.size() != 1) return false;
  const auto dst = d.destination(in.operands[0], 4);
  if (!dst) return false;
  d.emit(Op::ActiveMask).args.dst[0] = *dst;
  return true;
}

// elect.sync d|p, membermask
bool decode_elect(Decoder& d, const Instruction& in) {
  if (in.operands.size() != 3) return false;
  const auto dst = d.destination(in.operands[0], 4);
  const auto predicate_slot = d.destination(in.operands[1], 0);
  const auto mask = d.source(in.operands[2], 4, Type::B32);
  if (!dst || !predicate_slot || !mask) return false;
  Inst& inst = d.emit(Op::Elect);
  inst.flags = kFlagHasMask | kFlagSecondDst;
  inst.args.dst[0] = *dst;
  inst.args.dst[1] = *predicate_slot;
  inst.args.src[3] = *mask;
  return true;
}

int shuffle_destinations(const Instruction& in) {
  return in.has("sync") ? all_but<4>(in) : all_but<3>(in);
}

constexpr DecodeRow kCollectiveDecoders[] = {
    {"shfl", decode_shuffle, shuffle_destinations},
    {"vote", decode_vote, leading<1>},
    {"match", decode_match, all_but<2>},
    {"redux", decode_redux, leading<1>},
    {"activemask", decode_active_mask, leading<1>},
    {"elect", decode_elect, all_but<1>},
};

}  // namespace

bool decode_warp_sync(Decoder& d, const Instruction& in) {
  if (in.operands.size() != 1) return false;
  const ptx::Operand& members = in.operands[0];
  const auto mask = d.source(members, 4, Type::B32);
  if (!mask) return false;
  const bool whole =
      members.kind == ptx::Operand::Kind::Immediate && static_cast<uint32_t>(members.bits) == ~0u;
  if (!whole) d.code.orders_parts = true;
  Inst& inst = d.emit(Op::WarpSync);
  inst.flags = kFlagHasMask;
  inst.args.src[3] = *mask;
  return true;
}

std::span<const DecodeRow> collective_decoders() { return kCollectiveDecoders; }

}  // namespace kw::vgpu
