#include "vgpu/decoder.h"

namespace kw::vgpu {
// cp.async.ca|cg.shared.global [dst], [src], bytes[, src_bytes | ignore_src][, policy];
// cp.async.commit_group; cp.async.wait_group N; cp.async.wait_all
bool decode_async_copy(Decoder& d, const Instruction& in) {
  if (!in.has("async") || in.has("bulk") || in.has("mbarrier") || in.has("reduce")) return false;
  if (in.has("commit_group")) {
    d.emit(Op::AsyncCommit);
    return true;
  }
  if (in.has("wait_all") || in.has("wait_group")) {
    Inst& inst = d.emit(Op::AsyncWait);
    if (in.has("wait_all")) {
      inst.flags = 1;  // uncommitted copies too
      return true;
    }
    if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::Immediate) return false;
    inst.target = static_cast<uint32_t>(in.operands[0].bits);
    return true;
  }
  if (in.operands.size() < 3 || in.operands[2].kind != Operand::Kind::Immediate) return false;
  AsyncCopyInst copy;
  const uint64_t bytes = in.operands[2].bits;
  const bool size_ok = bytes == 16 || (in.has("ca") && (bytes == 4 || bytes == 8));
  if (!size_ok) return false;
  MemOp shared;
  shared.space = ptx::Space::Shared;
  shared.total = static_cast<uint8_t>(bytes);
  copy.source.space = ptx::Space::Global;
  copy.source.total = static_cast<uint8_t>(bytes);
  if (!d.address(in.operands[0], shared) || !d.address(in.operands[1], copy.source)) return false;
  note_access(d.code, shared, false);
  copy.shared = shared;
  if (in.operands.size() > 3) {
    const Operand& extra = in.operands[3];
    const bool is_predicate = extra.kind == Operand::Kind::Register &&
                              d.function().registers[extra.reg].type == Type::Pred;
    if (is_predicate) {
      const auto slot = d.predicate(extra, copy.ignore_negate);
      if (!slot) return false;
      copy.ignore = *slot;
    } else if (!in.has("L2::cache_hint") || in.operands.size() > 4) {
      const auto slot = d.source(extra, 4, Type::U32);
      if (!slot) return false;
      copy.source_bytes = *slot;
    }
  }
  return d.emit_row(Op::AsyncCopy, d.code.async_copies, copy);
}

}  // namespace kw::vgpu
