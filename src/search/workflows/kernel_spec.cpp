#include "workflows/kernel_spec.h"

#include <fmt/core.h>

#include <array>

#include "core/text.h"
#include "kernel/module.h"
#include "kernel/parse_module.h"
#include "plan/codegen.h"

namespace kw::workflows {
namespace {

constexpr std::array kInterfaceWords = {"kernelwright", "task",   "input", "param", "saved",
                                        "grad_output",  "output", "inout", "scalar"};

/// "//! output  y: fp16[B, D]" -> "output" and "y: fp16[B, D]".
std::pair<std::string, std::string> plan_parts(std::string_view line) {
  std::string_view rest = trim(line);
  if (!rest.starts_with("//!")) return {};
  rest = trim(rest.substr(3));
  const size_t blank = rest.find_first_of(" \t");
  if (blank == std::string_view::npos) return {std::string(rest), ""};
  return {std::string(rest.substr(0, blank)), std::string(trim(rest.substr(blank)))};
}

/// "B, min(D, 4)" -> "B" and "min(D, 4)".
std::vector<std::string> extents(std::string_view shape) {
  std::vector<std::string> list;
  int depth = 0;
  std::string one;
  for (const char c : shape) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      list.emplace_back(trim(one));
      one.clear();
    } else {
      one += c;
    }
  }
  if (!trim(one).empty()) list.emplace_back(trim(one));
  return list;
}

stages::TensorArg tensor_arg(const std::string& declaration) {
  stages::TensorArg arg;
  const size_t colon = declaration.find(':');
  const size_t open = declaration.find('[', colon), close = declaration.find(']', open);
  arg.name = std::string(trim(declaration.substr(0, colon)));
  if (arg.name.ends_with("?")) arg.name.pop_back();
  arg.dtype = std::string(trim(declaration.substr(colon + 1, open - colon - 1)));
  arg.shape = extents(std::string_view(declaration).substr(open + 1, close - open - 1));
  if (arg.shape.size() > 1) arg.layout_hint = "row_major";
  return arg;
}

}  // namespace

Result<std::string> interface_lines(const task::Task& task, const arch::Target& target) {
  generate::Options options;
  options.target = target;
  const std::vector<generate::Design> designs = KW_TRY(generate::designs(task, options));
  if (designs.empty()) return std::string();
  const std::string module = KW_TRY(generate::generate(task, designs.front(), options));
  std::string out;
  for (const std::string_view line : split_lines(module)) {
    const std::string word = plan_parts(line).first;
    for (const char* known : kInterfaceWords) {
      if (word == known) out += std::string(trim(line)) + "\n";
    }
  }
  return out;
}

Result<stages::KernelSpec> kernel_spec(const task::Task& task, const arch::Target& target,
                                       const std::string& interface, const std::string& priority) {
  stages::KernelSpec spec;
  spec.name = task.name;
  spec.target_arch = target.name;
  spec.rtol = task.precision.rtol;
  spec.atol = task.precision.atol;
  if (!priority.empty()) spec.optimization_priority = priority;
  for (const std::string_view line : split_lines(interface)) {
    const auto [word, rest] = plan_parts(line);
    if (word == "output" || word == "inout") spec.outputs.push_back(tensor_arg(rest));
    if (word != "output" && word != "scalar" && rest.find('[') != std::string::npos)
      spec.inputs.push_back(tensor_arg(rest));
  }
  spec.notes = join(task.notes, "; ");
  return spec;
}

std::string target_text(const arch::Target& target, const std::string& device, int sms,
                        int64_t l2_bytes) {
  return fmt::format(
      "{} ({}): {} multiprocessors, {} of L2; per multiprocessor {} threads, {} blocks, {} "
      "registers "
      "and {} of shared memory; per block at most {} threads and {} of shared memory; warps of {} "
      "threads, at most {} registers per thread.",
      device, target.name, sms > 0 ? sms : target.default_sms,
      human_bytes(static_cast<uint64_t>(l2_bytes > 0 ? l2_bytes : target.default_l2_bytes)),
      target.threads_per_sm, target.blocks_per_sm, target.registers_per_sm,
      human_bytes(static_cast<uint64_t>(target.shared_per_sm)), arch::kMaxThreadsPerBlock,
      human_bytes(static_cast<uint64_t>(target.shared_per_block_optin)), arch::kWarpSize,
      arch::kRegistersPerThread);
}

}  // namespace kw::workflows
