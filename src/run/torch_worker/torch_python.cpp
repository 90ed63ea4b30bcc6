#include "torch_worker/torch_python.h"

#include <fmt/core.h>

#include "core/text.h"
#include "os/files.h"
#include "os/own_program.h"
#include "os/permissions.h"
#include "os/process.h"
#include "sandbox/trusted.h"

namespace kw::torch_worker {
namespace {

// Finding the module without importing it takes milliseconds; importing it takes seconds.
constexpr const char* kProbe =
    "import importlib.util, importlib.metadata, sys\n"
    "if not importlib.util.find_spec('torch'): sys.exit(9)\n"
    "try: print(importlib.metadata.version('torch'))\n"
    "except importlib.metadata.PackageNotFoundError: pass\n";
constexpr double kProbeSeconds = 30;

/// Returns "" when this Python has torch, otherwise why not.
std::string lacks(const std::string& python, std::string* version) {
  const bool relative = !python.starts_with("/") && python.find('/') != std::string::npos;
  if (relative) return "not an absolute path, so it is not run";
  if (os::find_program(python).empty()) return "no such program";
  if (const Status status = sandbox::check_trusted(os::find_program(python)); !status)
    return status.error().message;
  os::ProcessLimits limits;
  limits.timeout_seconds = kProbeSeconds;
  auto run = os::run_process({python, "-I", "-c", kProbe}, {}, limits);
  if (!run) return run.error().message;
  if (run->timed_out) return fmt::format("did not answer within {} s", kProbeSeconds);
  if (run->signal != 0) return fmt::format("killed by signal {}", run->signal);
  if (run->exit_code == 9) return "has no module torch";
  *version = trim(run->out);
  if (run->exit_code == 0) return "";
  const std::string said(trim(run->err));
  const size_t newline = said.rfind('\n');
  return fmt::format("exit code {}: {}", run->exit_code,
                     newline == std::string::npos ? said : said.substr(newline + 1));
}

std::vector<std::string> candidates() {
  if (const std::string chosen = os::env("KW_TORCH_PYTHON"); !chosen.empty()) return {chosen};
  std::vector<std::string> all;
  if (const std::string venv = os::env("VIRTUAL_ENV"); !venv.empty()) {
    all.push_back(venv + "/bin/python");
  }
  if (const std::string python = os::find_program("python3"); !python.empty()) {
    all.push_back(python);
  }
  if (const std::string build = os::build_folder(); !build.empty()) {
    all.push_back(build + "/torch-venv/bin/python");
  }
  return all;
}

}  // namespace

FoundPython find_torch_python() {
  FoundPython found;
  found.forbidden = os::why_forbidden(os::Runs::Python);
  if (!found.forbidden.empty()) return found;
  const bool chosen = !os::env("KW_TORCH_PYTHON").empty();
  for (const std::string& python : candidates()) {
    const bool worth_a_line = chosen || os::exists(python) || !python.starts_with("/");
    const std::string why_not = lacks(python, &found.version);
    if (why_not.empty()) {
      found.path = python;
      return found;
    }
    if (worth_a_line) found.looked_at.push_back(fmt::format("{}: {}", python, why_not));
  }
  return found;
}

TorchOutcome no_torch(const FoundPython& found) {
  if (!found.forbidden.empty()) return {TorchKind::NoTorch, found.forbidden, ""};
  const std::string tried =
      found.looked_at.empty() ? "no Python found" : join(found.looked_at, "; ");
  return {TorchKind::NoTorch,
          fmt::format("no Python here can import torch ({}); KW_TORCH_PYTHON=/path/to/python names "
                      "one that can",
                      tried),
          ""};
}

}  // namespace kw::torch_worker
