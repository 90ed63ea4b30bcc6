// How doctor looks for each tool: one row per tool, one function per way of looking. Internal to
// engine.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compile/search.h"
#include "engine/doctor.h"
#include "oracle/torch_python.h"

namespace kw::engine {

struct DriverFacts {
  std::string version, path;
};

/// What several probes share, looked up when first needed.
class Examination {
 public:
  const compile::Toolbox& compilers();
  const Result<DriverFacts>& driver();
  /// The first GPU's description, or why there is none.
  const Result<exec::DeviceInfo>& gpu();
  /// The Python that references are executed with.
  const oracle::FoundPython& torch_python();

 private:
  std::optional<compile::Toolbox> compilers_;
  std::optional<Result<DriverFacts>> driver_;
  std::optional<Result<exec::DeviceInfo>> gpu_;
  std::optional<oracle::FoundPython> torch_python_;
};

struct ToolRow {
  const char* name;
  const char* title;
  void (*probe)(Examination& examination, Tool& tool);
  const char* cost;
  const char* remedy;
};
std::span<const ToolRow> tool_rows();

/// The version in what a tool prints for --version: "V13.0.88" before any other dotted number; ""
/// when there is none.
std::string find_version(const std::string& text);

/// Why a trial profile by ncu could not read the counters, from what it printed; "" when it could.
std::string counters_problem(const std::string& said);

}  // namespace kw::engine
