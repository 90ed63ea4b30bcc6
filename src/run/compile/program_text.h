// For tests: a PTX text as parsed, without names.
#pragma once

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "ptx/parse.h"

namespace kw::compile {

inline std::string operand_text(const ptx::Operand& operand) {
  std::string text = fmt::format(
      "{}.{}.{}.{} r{} s{}.{} p{} r{} f{} l{} {:x}+{}", static_cast<int>(operand.kind),
      static_cast<int>(operand.immediate), operand.negated, static_cast<int>(operand.special),
      operand.reg, operand.symbol, operand.local_symbol, operand.param, operand.result,
      operand.function, operand.label, operand.bits, operand.offset);
  for (const ptx::Operand& element : operand.elements) text += "{" + operand_text(element) + "}";
  return text;
}

inline std::string variables_text(const std::vector<ptx::Variable>& variables) {
  std::string text;
  for (const ptx::Variable& v : variables) {
    text += fmt::format("  {} {} {} {} {} [{}] at {}\n", static_cast<int>(v.space),
                        ptx::type_name(v.type), v.align, v.bytes, v.is_extern,
                        fmt::join(v.init, ","), v.ptx_line);
    for (const ptx::Variable::Patch& p : v.patches)
      text += fmt::format("    {} v{} f{} +{} {} {} {}\n", p.at, p.variable, p.function, p.offset,
                          p.generic, p.bytes, p.shift);
  }
  return text;
}

inline std::string function_text(const ptx::Function& f) {
  std::string text = fmt::format("function {} {} {} at {}; {} {} {} {} {}\n", f.is_entry,
                                 f.is_declaration, f.is_noreturn, f.ptx_line,
                                 fmt::join(f.max_threads, ","), fmt::join(f.required_threads, ","),
                                 fmt::join(f.required_cluster, ","), f.min_blocks, f.max_registers);
  text += variables_text(f.returns) + variables_text(f.params) + variables_text(f.variables);
  for (const ptx::Register& r : f.registers) text += r.name + ptx::type_name(r.type) + " ";
  for (const ptx::Label& l : f.labels)
    text +=
        fmt::format("\n {}: {} [{}] [{}] {}", l.name, l.instruction,
                    fmt::join(l.branch_targets, ","), fmt::join(l.call_targets, ","), l.prototype);
  for (const ptx::Instruction& i : f.instructions) {
    text +=
        fmt::format("\n {} {} @{}{} at {} {}:{} {}", i.opcode, fmt::join(i.modifiers, "."),
                    i.guard_negated ? "!" : "", i.guard, i.ptx_line, i.file, i.line, i.inlined_at);
    for (const ptx::Operand& operand : i.operands) text += ", " + operand_text(operand);
  }
  for (const ptx::InlineFrame& frame : f.inline_frames)
    text +=
        fmt::format("\n in {}:{}:{} {}", frame.file, frame.line, frame.column, frame.inlined_at);
  return text + "\n";
}

/// Returns the problem instead when it does not parse.
inline std::string program_text(std::string_view ptx) {
  const Result<ptx::Module> module = ptx::parse(ptx);
  if (!module) return module.error().message;
  std::string text = fmt::format("{}.{} {}, {} files\n", module->version_major,
                                 module->version_minor, module->target, module->files.size());
  text += variables_text(module->variables);
  for (const ptx::Function& function : module->functions) text += function_text(function);
  return text;
}

}  // namespace kw::compile
