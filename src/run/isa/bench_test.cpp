#include "isa/bench_test.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "ptx/parse.h"

namespace kw::isa {
namespace {

constexpr uint32_t kSlotBytes = 512;
constexpr uint32_t kOdd = 0xaaaa5555u;  // the partial mask
constexpr uint8_t kOld = 0xc3;          // initial bytes of the destination

Result<ptx::Module> parse_one(const std::string& text) {
  return ptx::parse(
      ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<8>;\n.reg .b8 %b<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<8>;\n.reg .b64 "
      "%d<8>;\n.reg .b128 %q<4>;\n" +
      text + "\nret;\n}\n");
}

std::vector<const ptx::Operand*> flatten(const ptx::Instruction& instruction, const Alu& alu) {
  std::vector<const ptx::Operand*> flat;
  for (const auto& operand : instruction.operands) {
    if (operand.kind == ptx::Operand::Kind::Vector) {
      for (const auto& element : operand.elements) flat.push_back(&element);
    } else {
      flat.push_back(&operand);
    }
  }
  if (alu.folded >= 0) flat.erase(flat.begin() + alu.dsts + alu.folded);
  return flat;
}

void put(std::byte* slot, uint8_t width, const Lanes& lanes) {
  if (width == 0) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 32; ++i) mask |= static_cast<uint32_t>(lanes[i] & 1) << i;
    std::memcpy(slot, &mask, 4);
    return;
  }
  for (size_t i = 0; i < 32; ++i) std::memcpy(slot + i * width, &lanes[i], width < 8 ? width : 8);
}
Lanes get(const std::byte* slot, uint8_t width) {
  Lanes out{};
  uint32_t mask = 0;
  if (width == 0) std::memcpy(&mask, slot, 4);
  for (size_t i = 0; i < 32; ++i) {
    if (width == 0) {
      out[i] = mask >> i & 1;
    } else {
      std::memcpy(&out[i], slot + i * width, width < 8 ? width : 8);
    }
  }
  return out;
}

struct State {
  std::vector<Lanes> dst;
  uint32_t carry = 0;
};

State execute(const Alu& alu, const std::vector<const ptx::Operand*>& flat,
              const std::vector<Lanes>& sources, uint32_t carry_in, uint32_t mask) {
  alignas(64) static std::byte file[10 * kSlotBytes];
  std::memset(file, kOld, sizeof(file));
  AluArgs args;
  for (uint32_t i = 0; i < alu.dsts; ++i) args.dst[i] = i * kSlotBytes;
  size_t next = 0;
  for (uint32_t i = 0; i < alu.srcs; ++i) {
    args.src[i] = (4 + i) * kSlotBytes;
    const ptx::Operand& operand = *flat[alu.dsts + i];
    Lanes lanes{};
    if (operand.kind == ptx::Operand::Kind::Immediate) {
      lanes.fill(operand.bits);
    } else {
      lanes = sources.at(next++);
    }
    if (operand.negated) args.negate |= 1u << i;
    put(file + args.src[i], alu.src[i].width, lanes);
  }
  args.carry = 9 * kSlotBytes;
  std::memcpy(file + args.carry, &carry_in, 4);
  args.aux = alu.aux;
  alu.fn(file, args, mask);
  State state;
  for (uint32_t i = 0; i < alu.dsts; ++i)
    state.dst.push_back(get(file + args.dst[i], alu.dst[i].width));
  std::memcpy(&state.carry, file + args.carry, 4);
  return state;
}

uint64_t old_value(uint8_t width, size_t lane) {
  if (width == 0) return (0xc3c3c3c3u >> lane) & 1;
  uint64_t value = 0;
  std::memset(&value, kOld, width < 8 ? width : 8);
  return value;
}

void expect_partial(const std::string& text, const Alu& alu, const State& full, const State& part,
                    uint32_t carry_in) {
  for (size_t d = 0; d < full.dst.size(); ++d)
    for (size_t i = 0; i < 32; ++i) {
      const uint64_t want = (kOdd >> i & 1) != 0 ? full.dst[d][i] : old_value(alu.dst[d].width, i);
      ASSERT_EQ(part.dst[d][i], want) << text << " masked lane " << i;
    }
  EXPECT_EQ(part.carry, (full.carry & kOdd) | (carry_in & ~kOdd)) << text;
}

}  // namespace

Result<Alu> decode_instruction(const std::string& text) {
  const ptx::Module module = KW_TRY(parse_one(text));
  const ptx::Function& function = module.functions.at(0);
  return find_alu(function.instructions.at(0), function);
}

BenchResult run_instruction(const std::string& text, const std::vector<Lanes>& sources,
                            uint32_t carry_in) {
  BenchResult out;
  const auto module = parse_one(text);
  if (!module) {
    out.error = module.error().message;
    return out;
  }
  const ptx::Function& function = module->functions.at(0);
  const ptx::Instruction& instruction = function.instructions.at(0);
  bool first = true;
  for (const Level level : numeric::supported_levels()) {
    const auto alu = find_alu_at(level, instruction, function);
    if (!alu) {
      out.error = alu.error().message;
      return out;
    }
    const auto flat = flatten(instruction, *alu);
    const State full = execute(*alu, flat, sources, carry_in, ~0u);
    const State part = execute(*alu, flat, sources, carry_in, kOdd);
    expect_partial(text, *alu, full, part, carry_in);
    if (first) {
      out.alu = *alu;
      out.dst = full.dst;
      out.carry = full.carry;
    } else {
      EXPECT_EQ(out.dst, full.dst) << text << " differs between x86-64 levels";
      EXPECT_EQ(out.carry, full.carry) << text;
    }
    first = false;
  }
  return out;
}

}  // namespace kw::isa
