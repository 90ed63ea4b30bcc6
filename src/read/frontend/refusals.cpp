#include "frontend/refusals.h"

#include <fmt/core.h>

#include <map>
#include <vector>

#include "core/text.h"
#include "frontend/call.h"
#include "frontend/nn_modules.h"

namespace kw::frontend {

namespace {

std::string suggestion(const std::string& nearest) {
  if (nearest.empty()) return kWayOut + 3;
  return fmt::format("did you mean {}? Else {}", nearest, kWayOut + 3);
}

}  // namespace

std::optional<bool> gradient_in(const Value& context) {
  const auto* library = context.get<Library>();
  if (library && library->name == kNoGradient) return false;
  if (library && library->name == kGradient) return true;
  return std::nullopt;
}

std::string unsupported_syntax(const std::string& kind) {
  struct Row {
    const char* what;
    const char* instead;
  };
  static const std::map<std::string, Row> kRows = {
      {"Try", {"'try' is not supported", "write the branch that runs"}},
      {"TryStar", {"'try' is not supported", "write the branch that runs"}},
      {"AsyncFunctionDef", {"'async' is not supported", "write a plain function"}},
      {"AsyncFor", {"'async' is not supported", "write a plain 'for'"}},
      {"AsyncWith", {"'async' is not supported", "write a plain 'with'"}},
      {"Await", {"'await' is not supported", "call a plain function"}},
      {"Yield", {"'yield' is not supported", "return a list"}},
      {"YieldFrom", {"'yield' is not supported", "return a list"}},
      {"TypeAlias", {"'type' statements are not supported", "leave it out"}},
      {"Starred", {"'*' cannot be used here", "it can be used in calls, lists and assignments"}},
  };
  const auto row = kRows.find(kind);
  if (row == kRows.end())
    return fmt::format("Python's '{}' is not supported\n{}", kind, kWayOut + 3);
  return fmt::format("{}\n{}, {}", row->second.what, row->second.instead, kWayOut);
}

std::string own_task(std::string_view call) {
  return fmt::format(
      "{}() inside a reference is not supported\nwrite the forward alone: its gradients are a task "
      "of their own, asked for with --backward",
      call);
}

std::string too_many_steps(int64_t limit) {
  return fmt::format(
      "the reference does not end within {} steps\nloops are unrolled: use tensor operations for "
      "long ones",
      limit);
}

std::string value_decides(std::string_view how) {
  return fmt::format(
      "{}: its value is known only at run time\ntorch.where(condition, a, b) chooses per element, "
      "{}",
      how, kWayOut);
}

std::string unknown_function(const std::string& name) {
  const std::string shown = name.starts_with("F.") ? "torch.nn.functional" + name.substr(1) : name;
  std::vector<std::string> known = op_names();
  for (const char* attribute : {"shape", "dtype", "ndim", "device", "T", "mT", "size", "numel"})
    known.push_back(fmt::format("Tensor.{}", attribute));
  std::string nearest = closest(name, known);
  if (nearest.empty()) {
    // The same word elsewhere: F.exp for torch.exp.
    const std::string word = name.substr(name.rfind('.') + 1);
    for (const char* home : {"torch.", "F.", "Tensor."}) {
      if (nearest.empty() && find_op(home + word)) nearest = home + word;
    }
  }
  return fmt::format("{} is not supported\n{}", shown, suggestion(nearest));
}

std::string unknown_module(const std::string& name) {
  const std::string nearest = closest(name, module_names());
  return fmt::format("torch.nn.{} is not supported\n{}", name,
                     suggestion(nearest.empty() ? "" : "nn." + nearest));
}

}  // namespace kw::frontend
