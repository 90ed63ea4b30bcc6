// Decodes wgmma: products of four warps.
#include <algorithm>
#include <cstdio>

#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

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

// .m64nNkK.DTYPE.ATYPE.BTYPE
bool read_shape(const Instruction& in, GroupProduct& product) {
  if (!in.has("mma_async") || in.has("sp") || in.has("satfinite") || in.types.size() != 3)
    return false;
  int m = 0, n = 0, k = 0;
  for (const std::string& modifier : in.modifiers)
    std::sscanf(modifier.c_str(), "m%dn%dk%d", &m, &n, &k);
  product.sum_type = in.types[0];
  product.type = in.types[1];
  product.columns = n;
  product.depth = k;
  return in.types[1] == in.types[2] && m == 64 && n >= 8 && n <= 256 && n % 8 == 0 && k != 0 &&
         k == depth_for(in.types[1]) && fits(in.types[0], in.types[1]);
}

// sums, a | {a…}, b, keep
bool read_matrices(Decoder& d, const Instruction& in, GroupProduct& product) {
  if (in.operands.size() < 4) return false;
  const int held = product.columns / 2 * ptx::type_size(product.sum_type) / 4;
  const Operand& sums = in.operands[0];
  if (sums.kind != Operand::Kind::Vector || static_cast<int>(sums.elements.size()) != held)
    return false;
  for (const Operand& one : sums.elements) {
    const auto slot = d.destination(one, 4);
    if (!slot) return false;
    product.sums.push_back(*slot);
  }
  const Operand& left = in.operands[1];
  product.left_in_registers = left.kind == Operand::Kind::Vector;
  if (product.left_in_registers && left.elements.size() != 4) return false;
  for (size_t i = 0; i < (product.left_in_registers ? 4u : 1u); ++i) {
    const auto slot = product.left_in_registers ? d.source(left.elements[i], 4, Type::B32)
                                                : d.source(left, 8, Type::B64);
    if (!slot) return false;
    product.left[i] = *slot;
  }
  const auto right = d.source(in.operands[2], 8, Type::B64);
  const auto keep = d.predicate(in.operands[3], product.keep_negate);
  if (!right || !keep) return false;
  product.right = *right;
  product.keep = *keep;
  return true;
}

// [, ±1, ±1[, trans-a, trans-b]]
bool read_signs_and_turns(const Instruction& in, GroupProduct& product) {
  if (in.operands.size() > 5 && !(is_number(in.operands[4], product.left_minus) &&
                                  is_number(in.operands[5], product.right_minus)))
    return false;
  const size_t turns = in.operands.size() - std::min<size_t>(in.operands.size(), 6);
  if (turns > 2 || (turns > 0 && ptx::type_size(product.type) != 2)) return false;
  if (turns > 0 && !is_flag(in.operands.back(), product.right_turned)) return false;
  return turns < 2 || is_flag(in.operands[6], product.left_turned);
}

}  // namespace

// wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned N;
// wgmma.mma_async.sync.aligned.m64nNkK.DTYPE.ATYPE.BTYPE sums, a | {a…}, b, keep
//   [, ±1, ±1[, trans-a, trans-b]];
bool decode_group_product(Decoder& d, const Instruction& in) {
  if (in.has("fence")) return decode_nothing(d, in);
  if (in.has("commit_group")) {
    d.emit(Op::GroupCommit);
    return true;
  }
  if (in.has("wait_group")) {
    if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::Immediate) return false;
    d.emit(Op::GroupWait).target = static_cast<uint32_t>(in.operands[0].bits);
    return true;
  }
  GroupProduct product;
  if (!read_shape(in, product) || !read_matrices(d, in, product) ||
      !read_signs_and_turns(in, product))
    return false;
  MemOp shared;
  shared.space = ptx::Space::Shared;
  shared.total = 16;
  note_access(d.code, shared, false);
  return d.emit_row(Op::GroupMma, d.code.group_products, std::move(product));
}

}  // namespace kw::vgpu
