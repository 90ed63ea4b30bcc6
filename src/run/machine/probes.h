// Finds the tools of this machine: one row per tool, one probe function per kind of tool.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/search.h"
#include "ports/device.h"
#include "torch_worker/torch_python.h"

namespace kw::machine {

enum class ToolState : uint8_t { Found, Limited, Missing };

struct Tool {
  std::string name;   // stable: "nvrtc", "ncu-counters", …
  std::string title;  // shown to users
  ToolState state = ToolState::Missing;
  std::string version, path;
  std::string note;    // what limits it, or why it was not found
  std::string cost;    // what the user cannot do without it
  std::string remedy;  // how to install it
};

const char* tool_state_name(ToolState state);
/// Examines only the named tool; nullopt when no tool has this name.
std::optional<Tool> examine_one(const std::string& name);
/// The names that examine_one() knows.
std::vector<std::string> tool_names();

struct DriverFacts {
  std::string version, path;
};

/// Facts that several probes share, found at first use.
class Examination {
 public:
  const compile::Toolbox& compilers();
  const Result<DriverFacts>& driver();
  /// The first GPU's description, or why there is none.
  const Result<ports::DeviceInfo>& gpu();
  /// The Python that executes references.
  const torch_worker::FoundPython& torch_python();

 private:
  std::optional<compile::Toolbox> compilers_;
  std::optional<Result<DriverFacts>> driver_;
  std::optional<Result<ports::DeviceInfo>> gpu_;
  std::optional<torch_worker::FoundPython> torch_python_;
};

struct ToolRow {
  const char* name;
  const char* title;
  void (*probe)(Examination& examination, Tool& tool);
  const char* cost;
  const char* remedy;
};
std::span<const ToolRow> tool_rows();
Tool examine_row(const ToolRow& row, Examination& examination);

/// Finds the version in a tool's --version output: "V13.0.88" before any other dotted number; ""
/// when there is none.
std::string find_version(const std::string& text);

/// Why a trial profile by ncu could not read the counters, from its output; "" when it could.
std::string counters_problem(const std::string& said);

}  // namespace kw::machine
