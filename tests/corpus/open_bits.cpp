#include "open_bits.h"

#include <algorithm>
#include <map>

#include "ptx/parse.h"
#include "ptx/ptx_module.h"

namespace kw::corpus {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

bool is_float(Type t) {
  return t == Type::F16 || t == Type::F16x2 || t == Type::Bf16 || t == Type::Bf16x2 ||
         t == Type::F32 || t == Type::F64;
}

/// add, sub or mul of floats without a rounding modifier: the ISA lets a compiler fuse those.
bool may_fuse(const Instruction& i, std::string_view opcode) {
  return i.opcode == opcode && i.operands.size() == 3 && !i.types.empty() && is_float(i.types[0]) &&
         !i.has("rn") && !i.has("rz") && !i.has("rm") && !i.has("rp");
}

bool contracts(const ptx::Function& function) {
  std::map<int, Type> products;  // by register, wherever in the function they are used
  for (const Instruction& i : function.instructions)
    if (may_fuse(i, "mul") && i.operands[0].kind == Operand::Kind::Register)
      products[i.operands[0].reg] = i.types[0];
  const auto adds_product = [&](const Instruction& i) {
    return std::any_of(i.operands.begin() + 1, i.operands.end(), [&](const Operand& source) {
      const auto found =
          source.kind == Operand::Kind::Register ? products.find(source.reg) : products.end();
      return found != products.end() && found->second == i.types[0];
    });
  };
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [&](const Instruction& i) {
                       return (may_fuse(i, "add") || may_fuse(i, "sub")) && adds_product(i);
                     });
}

/// Matrix instructions add in an order and a precision of their own.
bool multiplies_matrices(const Instruction& i) {
  return (i.opcode == "mma" || (i.opcode == "wmma" && i.has("mma"))) && !i.types.empty() &&
         is_float(i.types[0]);
}

}  // namespace

std::set<std::string> open_bits(std::string_view ptx) {
  std::set<std::string> found;
  const auto module = ptx::parse(ptx);
  if (!module) return found;
  for (const ptx::Function& function : module->functions) {
    if (contracts(function)) found.insert("mul+add contraction");
    for (const Instruction& i : function.instructions) {
      for (const char* kind : {"approx", "full"})
        if (i.has(kind)) found.insert(i.opcode + "." + kind);
      if (multiplies_matrices(i)) found.insert(i.opcode + " order");
    }
  }
  return found;
}

}  // namespace kw::corpus
