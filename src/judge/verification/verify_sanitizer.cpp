#include "verification/verify_sanitizer.h"

#include <fmt/core.h>

#include "compile/search.h"
#include "core/json.h"
#include "core/json_writer.h"
#include "core/one_line.h"
#include "core/text.h"
#include "os/files.h"
#include "os/process.h"
#include "sandbox/sandbox.h"

namespace kw::verification {

namespace {

constexpr const char* kSanitizers[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
constexpr int kFoundCode = 86;
constexpr double kTimeoutSeconds = 600;  // the tools slow a kernel down about 100 times

std::vector<std::string> run_words(const std::string& self, const std::string& module_path,
                                   const kernel::Bindings& bindings) {
  std::vector<std::string> words = {self,
                                    "run",
                                    module_path,
                                    "--device",
                                    "gpu",
                                    "--dims",
                                    json_of(bindings.dims).dump(),
                                    "--target",
                                    bindings.target.name,
                                    "--timeout",
                                    fmt::format("{:g}", kTimeoutSeconds)};
  const auto add = [&](const char* option, const std::string& name, const std::string& value) {
    words.emplace_back(option);
    words.push_back(name + "=" + value);
  };
  for (const auto& [name, value] : bindings.tunes) add("--tune", name, std::to_string(value));
  for (const auto& [name, value] : bindings.scalars)
    add("--scalar", name, fmt::format("{:.17g}", value));
  for (const auto& [name, value] : bindings.integer_scalars)
    add("--scalar", name, std::to_string(value));
  for (const std::string& name : bindings.absent) {
    words.emplace_back("--absent");
    words.push_back(name);
  }
  return words;
}

// The tools start their lines with "=========".
std::string first_complaint(const std::string& text) {
  for (const std::string_view line : split_lines(text)) {
    if (!line.starts_with("=========")) continue;
    const std::string_view rest = trim(line.substr(9));
    if (rest.empty() || rest.starts_with("COMPUTE-SANITIZER")) continue;
    return one_line(rest);
  }
  return "it found something but did not say what";
}

Result<std::string> run_tool(const std::string& sanitizer, const char* tool,
                             const std::vector<std::string>& words) {
  std::vector<std::string> argv = {sanitizer, "--tool", tool, "--target-processes", "all",
                                   // Only our own driver calls would be reported. Some of them ask
                                   // for things that may be missing.
                                   "--report-api-errors", "no", "--error-exitcode",
                                   std::to_string(kFoundCode)};
  argv.insert(argv.end(), words.begin(), words.end());
  os::ProcessLimits limits;
  limits.timeout_seconds = kTimeoutSeconds;
  const os::ProcessResult result =
      KW_TRY(os::run_process(argv, {}, limits, {sandbox::also_unconfined("gpu")}));
  if (!result.timed_out && result.signal == 0 && result.exit_code == 0) return std::string();
  if (!result.timed_out && result.signal == 0 && result.exit_code == kFoundCode)
    return fmt::format("compute-sanitizer {}: {}", tool, first_complaint(result.out + result.err));
  const std::string how = result.timed_out ? "did not finish"
                          : result.signal != 0
                              ? fmt::format("was killed by signal {}", result.signal)
                              : fmt::format("ended with code {}", result.exit_code);
  return environment_error("compute-sanitizer {} {}", tool, how);
}

}  // namespace

gate::OtherCheckers sanitizer_checkers(const std::string& module_path, const std::string& sanitizer,
                                       const std::string& self) {
  if (sanitizer.empty()) return {};
  return [=](const kernel::Bindings& bindings) -> Result<std::string> {
    const std::vector<std::string> words = run_words(self, module_path, bindings);
    for (const char* tool : kSanitizers) {
      const std::string found = KW_TRY(run_tool(sanitizer, tool, words));
      if (!found.empty()) return found;
    }
    return std::string();
  };
}

gate::OtherCheckers sanitizer_checkers(const std::string& module_path) {
  return sanitizer_checkers(module_path, compile::find_cuda_program("compute-sanitizer"),
                            os::self_path());
}

}  // namespace kw::verification
