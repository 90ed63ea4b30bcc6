// Finds the functions that an entry can reach, and those that may be entered again before they
// return. Every function has fixed slots, so only recursive ones need to save them. A call is
// recursive when the callee can reach the caller. A call through a pointer may reach every function
// whose address is taken, which is safe but may save more than needed. Above 1000 functions every
// call counts as recursive, because the exact search is quadratic.
#include <algorithm>

#include "vgpu/decoder.h"
#include "vgpu/registers.h"

namespace kw::vgpu {
namespace {

constexpr int kMaxDepth = 256;
constexpr size_t kMaxExact = 1000;  // functions; with more, every call counts as recursive

bool has_indirect_call(const ptx::Function& f) {
  return std::any_of(f.instructions.begin(), f.instructions.end(), [](const ptx::Instruction& in) {
    return in.opcode == "call" && in.operands[1].reg >= 0;
  });
}

}  // namespace

bool Decoder::collect(int index, int depth) {
  if (depth > kMaxDepth) return refuse("functions call each other too deeply");
  if (!layouts_.emplace(index, FunctionLayout()).second) return true;
  const ptx::Function& f = module_.functions[index];
  std::set<int> callees;
  for (const ptx::Instruction& instruction : f.instructions) {
    for (const ptx::Operand& operand : instruction.operands) {
      collect_operand(operand, callees);
      if (operand.label < 0) continue;
      for (const int target : f.labels[operand.label].call_targets) address_taken_.insert(target);
    }
  }
  for (const int callee : callees) {
    if (module_.functions[callee].is_declaration || module_.functions[callee].is_entry) continue;
    calls_[index].insert(callee);
    if (!collect(callee, depth + 1)) return false;
  }
  order_.insert(order_.begin(), index);  // callers before callees: the entry is first
  return true;
}

void Decoder::collect_operand(const ptx::Operand& operand, std::set<int>& callees) {
  if (operand.function >= 0) {
    callees.insert(operand.function);
    address_taken_.insert(operand.function);
  }
  const bool module_variable = operand.symbol >= 0 && !operand.local_symbol;
  if (module_variable && variables_used_.insert(operand.symbol).second) {
    std::vector<int> open = {operand.symbol};
    // An initialiser may hold addresses of further variables and of functions.
    while (!open.empty()) {
      const int variable = open.back();
      open.pop_back();
      for (const ptx::Variable::Patch& patch : module_.variables[variable].patches) {
        if (patch.function >= 0)
          callees.insert(patch.function), address_taken_.insert(patch.function);
        if (patch.variable >= 0 && variables_used_.insert(patch.variable).second)
          open.push_back(patch.variable);
      }
    }
  }
  for (const ptx::Operand& element : operand.elements) collect_operand(element, callees);
}

// A call may lead back to its caller when the callee reaches the caller. A call through a pointer
// may lead to any function whose address is taken.
void Decoder::find_recursion() {
  for (const int f : order_) {
    if (!has_indirect_call(module_.functions[f])) continue;
    for (const int target : address_taken_) {
      if (layouts_.count(target) != 0) calls_[f].insert(target);
    }
  }
  for (const int f : order_) {
    if (module_.functions[f].is_entry) continue;
    std::set<int>& reach = reaches_[f];
    if (order_.size() > kMaxExact) {
      reach.insert(order_.begin(), order_.end());
    } else {
      std::vector<int> open(calls_[f].begin(), calls_[f].end());
      while (!open.empty()) {
        const int next = open.back();
        open.pop_back();
        if (!reach.insert(next).second) continue;
        open.insert(open.end(), calls_[next].begin(), calls_[next].end());
      }
    }
    layouts_[f].recursive = reach.count(f) != 0;
  }
}

bool Decoder::is_recursive_call(int callee) const {
  const auto found = reaches_.find(callee);
  return found != reaches_.end() && found->second.count(current_) != 0;
}

// Local variables of a recursive function are on a stack; their addresses are in registers.
uint32_t Decoder::stack_offset(const ptx::Variable& variable) {
  constexpr uint32_t kAlign = 16;
  FunctionLayout& own = layout();
  const uint32_t at = own.stack_bytes;
  if (variable.bytes > static_cast<int64_t>(kStackBytes)) {
    refuse("a local array of a recursive function is larger than its stack");
    return 0;
  }
  own.stack_bytes +=
      (static_cast<uint32_t>(variable.bytes) + kAlign - 1) / kAlign * kAlign + kAlign;
  return at;
}

uint32_t Decoder::stack_address(int variable, int64_t offset, int width) {
  FunctionLayout& own = layout();
  const auto [row, is_new] = own.stack_slots.try_emplace({variable, offset, width}, 0);
  if (!is_new) return row->second;
  row->second = new_slot(width);
  own.saved.push_back({row->second, static_cast<uint32_t>(width)});
  own.stack_addresses.push_back({row->second, static_cast<uint8_t>(width),
                                 static_cast<int64_t>(own.variables[variable]) + offset});
  return row->second;
}

// Lists everything of a recursive function that a second activation would overwrite, except its
// results.
void Decoder::lay_out_saved(const ptx::Function& f) {
  FunctionLayout& own = layout();
  std::set<std::pair<uint32_t, int>> slots;
  for (size_t r = 0; r < f.registers.size(); ++r)
    slots.insert({own.registers[r], register_width(f.registers[r].type)});
  for (const auto& [offset, width] : slots)
    own.saved.push_back({offset, static_cast<uint32_t>(width)});
  for (size_t v = 0; v < f.variables.size(); ++v) {
    if (f.variables[v].space == ptx::Space::Param)
      own.saved.push_back({own.variables[v], static_cast<uint32_t>(f.variables[v].bytes)});
  }
  for (size_t p = 0; p < f.params.size(); ++p)
    own.saved.push_back({own.params[p], static_cast<uint32_t>(f.params[p].bytes)});
  own.saved.push_back({own.return_slot, 4});
  own.carry_slot = new_slot(0);
  own.saved.push_back({own.carry_slot, 0});
  own.frame = static_cast<int>(code_.frames.size());
  code_.frames.emplace_back();
}

// Emitting adds slots to save, so frames are complete only now.
void Decoder::link_frames() {
  for (auto& [index, own] : layouts_) {
    if (own.frame < 0) continue;
    ActivationFrame& frame = code_.frames[own.frame];
    frame.saved = std::move(own.saved);
    frame.addresses = std::move(own.stack_addresses);
    frame.stack_bytes = own.stack_bytes;
    if (own.stack_bytes == 0 || code_.stack_start != 0) continue;
    code_.stack_start = code_.local_bytes;
    code_.local_bytes += kStackBytes;
    code_.stack_slot = new_slot(4);
    code_.zeroed.push_back({code_.stack_slot, slot_bytes(4)});
  }
}

}  // namespace kw::vgpu
