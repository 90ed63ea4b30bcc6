// Which instructions device code may have. Like special registers, they are a list of what is
// allowed: what is not in it is refused by its name, so that a new way to learn about the machine,
// or to act on memory that is not the candidate's, has to be judged by a person first. What a
// device cannot run is another matter: that is found when it runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::ptx {

enum class InstructionRule { Free, Refused, Unknown };

struct InstructionVerdict {
  InstructionRule rule = InstructionRule::Unknown;
  std::string_view why;  // of a refusal
};

/// `opcode`: the first part of the name, "cp" of "cp.async.bulk".
InstructionVerdict rule_of_instruction(std::string_view opcode);

struct RefusedInstruction {
  int ptx_line = 0;
  std::string message;  // "has the instruction 'pmevent', which …"
};
/// All instructions and pragmas of a PTX text that a module may not have, in these kernels and in
/// functions. No kernel named: in all of them. Each name once.
std::vector<RefusedInstruction> refused_instructions(std::string_view text,
                                                     const std::vector<std::string>& kernels = {});

}  // namespace kw::ptx
