#include "isa_runner.h"

#include <cstring>
#include <map>
#include <memory>

#include "ptx/parse.h"

namespace kw::alu_fuzz {
namespace {

constexpr uint32_t kSlot = 512, kWarp = 32;

/// One parsed case: its instructions ready to run, and where its registers lie.
struct Program {
  struct Step {
    isa::Alu alu;
    isa::AluArgs args;
  };
  std::vector<Step> steps;
  std::map<std::string, uint32_t> registers;  // name -> offset
  uint32_t bytes = kSlot;                     // the first slot is the carry flag
  std::vector<std::pair<uint32_t, std::pair<uint8_t, uint64_t>>>
      constants;  // offset, width and value
};

struct Placer {
  const ptx::Function& function;
  Program& program;

  uint32_t place(const ptx::Operand& operand, const isa::Slot& slot) {
    if (operand.kind == ptx::Operand::Kind::Register) {
      const std::string& name = function.registers[static_cast<size_t>(operand.reg)].name;
      const auto [at, fresh] = program.registers.emplace(name, program.bytes);
      if (fresh) program.bytes += kSlot;
      return at->second;
    }
    const uint32_t offset = program.bytes;
    program.bytes += kSlot;
    if (operand.kind == ptx::Operand::Kind::Immediate)
      program.constants.push_back({offset, {slot.width, operand.bits}});
    return offset;
  }
};

std::vector<const ptx::Operand*> flatten(const ptx::Instruction& instruction, const isa::Alu& alu) {
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

Result<Program> build(const Case& c, isa::Level level) {
  const std::string text =
      ".version 8.8\n.target sm_100\n.address_size 64\n.visible .entry k()\n{\n" + declarations(c) +
      body(c) + "  ret;\n}\n";
  const ptx::Module module = KW_TRY(ptx::parse(text));
  const ptx::Function& function = module.functions.at(0);
  Program program;
  Placer placer{function, program};
  for (const ptx::Instruction& instruction : function.instructions) {
    if (instruction.opcode == "ret") continue;
    Program::Step step;
    step.alu = KW_TRY(isa::find_alu_at(level, instruction, function));
    const auto flat = flatten(instruction, step.alu);
    for (uint32_t i = 0; i < step.alu.dsts; ++i)
      step.args.dst[i] = placer.place(*flat[i], step.alu.dst[i]);
    for (uint32_t i = 0; i < step.alu.srcs; ++i) {
      const ptx::Operand& operand = *flat[step.alu.dsts + i];
      step.args.src[i] = placer.place(operand, step.alu.src[i]);
      if (operand.negated) step.args.negate |= 1u << i;
    }
    step.args.aux = step.alu.aux;
    program.steps.push_back(step);
  }
  return program;
}

void put(std::byte* slot, int bits, const uint64_t* values) {
  uint32_t mask = 0;
  const size_t width = bits == 8 ? 2 : static_cast<size_t>(bits / 8);
  for (uint32_t i = 0; i < kWarp; ++i) {
    mask |= static_cast<uint32_t>(values[i] & 1) << i;
    if (bits > 1) std::memcpy(slot + i * width, &values[i], width);
  }
  if (bits == 1) std::memcpy(slot, &mask, 4);
}
void get(const std::byte* slot, int bits, uint64_t* values) {
  uint32_t mask = 0;
  std::memcpy(&mask, slot, 4);
  const size_t width = bits == 8 ? 2 : static_cast<size_t>(bits / 8);
  for (uint32_t i = 0; i < kWarp; ++i) {
    values[i] = bits == 1 ? mask >> i & 1 : 0;
    if (bits > 1) std::memcpy(&values[i], slot + i * width, width);
    if (bits == 8) values[i] &= 0xff;
  }
}

void run_warp(const Program& program, const Batch& batch, size_t k, int first, std::byte* file,
              std::vector<uint64_t>& out) {
  const Case& c = batch.cases()[k];
  std::memset(file, 0, program.bytes);
  for (const auto& [offset, constant] : program.constants) {
    const uint64_t value = constant.second;
    for (uint32_t i = 0; i < kWarp; ++i)
      std::memcpy(file + offset + i * constant.first, &value,
                  constant.first < 8 ? constant.first : 8);
  }
  for (size_t i = 0; i < c.src.size(); ++i) {
    const auto at = program.registers.find("%s" + std::to_string(i));
    if (at != program.registers.end())
      put(file + at->second, c.src[i].bits, batch.input(k, i) + first);
  }
  for (const Program::Step& step : program.steps) step.alu.fn(file, step.args, ~0u);
  for (size_t i = 0; i < c.dst.size(); ++i) {
    const auto at = program.registers.find("%d" + std::to_string(i));
    if (at != program.registers.end())
      get(file + at->second, c.dst[i], &out[batch.output_at(k, i) + static_cast<size_t>(first)]);
  }
}

}  // namespace

Result<std::vector<uint64_t>> run_on_isa(const Batch& batch, isa::Level level) {
  std::vector<uint64_t> out(batch.output_count(), 0);
  for (size_t k = 0; k < batch.cases().size(); ++k) {
    auto program = build(batch.cases()[k], level);
    if (!program) return std::move(program).error().context(batch.cases()[k].text);
    std::vector<std::byte> storage(program->bytes + 64);
    void* aligned = storage.data();
    size_t space = storage.size();
    std::align(64, program->bytes, aligned, space);
    for (int first = 0; first < batch.threads(); first += static_cast<int>(kWarp))
      run_warp(*program, batch, k, first, static_cast<std::byte*>(aligned), out);
  }
  return out;
}

}  // namespace kw::alu_fuzz
