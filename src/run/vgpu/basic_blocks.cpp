#include "vgpu/basic_blocks.h"

#include <string>

namespace kw::vgpu {
namespace {

std::vector<int> targets_of(const ptx::Function& function, const ptx::Instruction& instruction) {
  std::vector<int> targets;
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.label < 0) continue;
    const ptx::Label& label = function.labels[operand.label];
    if (label.branch_targets.empty()) targets.push_back(label.instruction);
    for (const int target : label.branch_targets)
      targets.push_back(function.labels[target].instruction);
  }
  return targets;
}

bool ends_block(const ptx::Instruction& instruction) {
  const std::string& op = instruction.opcode;
  return op == "bra" || op == "brx" || op == "ret" || op == "exit" || op == "trap";
}

}  // namespace

std::vector<BasicBlock> split_blocks(const ptx::Function& function) {
  const int count = static_cast<int>(function.instructions.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (const ptx::Label& label : function.labels) leader[label.instruction] = true;
  for (int i = 0; i < count; ++i) {
    if (ends_block(function.instructions[i])) leader[i + 1] = true;
  }
  std::vector<int> block_of(count + 1, -1);
  std::vector<BasicBlock> blocks;
  for (int i = 0; i < count; ++i) {
    if (leader[i]) blocks.push_back({i, i, {}});
    block_of[i] = static_cast<int>(blocks.size()) - 1;
    blocks.back().end = i + 1;
  }
  for (BasicBlock& block : blocks) {
    const ptx::Instruction& last = function.instructions[block.end - 1];
    const bool leaves = ends_block(last) && last.guard < 0;
    if (!leaves && block.end < count) block.next.push_back(block_of[block.end]);
    if (last.opcode != "bra" && last.opcode != "brx") continue;
    for (const int target : targets_of(function, last)) {
      if (target < count) block.next.push_back(block_of[target]);
    }
  }
  return blocks;
}

}  // namespace kw::vgpu
