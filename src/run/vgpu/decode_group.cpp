// Decodes wgmma: products of four warps.
#include <cstdio>

#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

int depth_for(Type type) {
  switch (type) {
    case Type::F16:
    case Type::Bf16:
      return 16;
    case Type::Tf32:
      return 8;
    case Type::S8:
    case Type::U8:
      return 32;
    default:
      return 0;
  }
}

bool fits(Type sums, Type type) {
  if (type == Type::S8 || type == Type::U8) return sums == Type::S32;
  return sums == Type::F32 || (sums == Type::F16 && type == Type::F16);
}

bool is_number(const Operand& operand, bool& one_is_minus) {
  const auto value = static_cast<int64_t>(operand.bits);
  one_is_minus = value == -1;
  return operand.kind == Operand::Kind::Immediate && (value == 1 || value == -1);
}

bool is_flag(const Operand& operand, bool& set) {
  set = operand.bits == 1;
  return operand.kind == Operand::Kind::Immediate && operand.bits <= 1;
}

}  // namespace

// wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned N;
// wgmma.mma_async.sync.aligned.m64nNkK.DTYPE.ATYPE.BTYPE sums, a | {a…}, b, keep
//   [, ±1, ±1[, trans-a, trans-b]];
bool Decoder::group_product(const Instruction& in) {
  if (in.has("fence")) return no_operation(in);
  if (in.has("commit_group")) {
    emit(Op::GroupCommit);
    return true;
  }
  if (in.has("wait_group")) {
    if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::Immediate) return false;
    emit(Op::GroupWait).target = static_cast<uint32_t>(in.operands[0].bits);
    return true;
  }
  if (!in.has("mma_async") || in.has("sp") || in.has("satfinite") || in.types.size() != 3)
    return false;
  int m = 0, n = 0, k = 0;
  for (const std::string& modifier : in.modifiers)
    std::sscanf(modifier.c_str(), "m%dn%dk%d", &m, &n, &k);
  GroupProduct product;
  product.sum_type = in.types[0];
  product.type = in.types[1];
  product.columns = n;
  product.depth = k;
  const bool same =
      ptx::type_size(in.types[1]) == ptx::type_size(in.types[2]) && (in.types[1] == in.types[2]);
  if (!same || m != 64 || n < 8 || n > 256 || n % 8 != 0 || k == 0 || k != depth_for(in.types[1]) ||
      !fits(in.types[0], in.types[1]) || in.operands.size() < 4)
    return false;
  const int held = n / 2 * ptx::type_size(in.types[0]) / 4;
  const Operand& sums = in.operands[0];
  if (sums.kind != Operand::Kind::Vector || static_cast<int>(sums.elements.size()) != held)
    return false;
  for (const Operand& one : sums.elements) {
    const auto slot = destination(one, 4);
    if (!slot) return false;
    product.sums.push_back(*slot);
  }
  const Operand& left = in.operands[1];
  product.left_in_registers = left.kind == Operand::Kind::Vector;
  if (product.left_in_registers && left.elements.size() != 4) return false;
  for (size_t i = 0; i < (product.left_in_registers ? 4u : 1u); ++i) {
    const auto slot = product.left_in_registers ? source(left.elements[i], 4, Type::B32)
                                                : source(left, 8, Type::B64);
    if (!slot) return false;
    product.left[i] = *slot;
  }
  const auto right = source(in.operands[2], 8, Type::B64);
  const auto keep = predicate(in.operands[3], product.keep_negate);
  if (!right || !keep) return false;
  product.right = *right;
  product.keep = *keep;
  if (in.operands.size() > 5 && !(is_number(in.operands[4], product.left_minus) &&
                                  is_number(in.operands[5], product.right_minus)))
    return false;
  const size_t turns = in.operands.size() - std::min<size_t>(in.operands.size(), 6);
  if (turns > 2 || (turns > 0 && ptx::type_size(product.type) != 2)) return false;
  if (turns > 0 && !is_flag(in.operands.back(), product.right_turned)) return false;
  if (turns > 1 && !is_flag(in.operands[6], product.left_turned)) return false;
  MemOp shared;
  shared.space = ptx::Space::Shared;
  shared.total = 16;
  note_access(shared, false);
  emit(Op::GroupMma).target = static_cast<uint32_t>(code_.group_products.size());
  code_.group_products.push_back(std::move(product));
  return true;
}

}  // namespace kw::vgpu
