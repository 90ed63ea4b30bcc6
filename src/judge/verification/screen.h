// The `screen` command: which files of a folder can become tasks, and why the others cannot. Uses
// our front end, and torch.export if torch is installed. Nothing is run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "single_run/run_module.h"
#include "torch_worker/torch_process.h"

namespace kw::verification {

enum class ScreenScope : uint8_t {
  InScope,      // can be a task as it is
  OutOfScope,   // cannot be a task
  NeedsReview,  // may be a task with torch or with more options
};
/// "in_scope", "out_of_scope" or "needs_review".
const char* scope_name(ScreenScope scope);

struct Screened {
  std::string name, path;
  ScreenScope scope = ScreenScope::OutOfScope;
  std::string reader;            // "own" or "torch.export"; "" when neither reads it
  std::string reason;            // one line
  std::string detail;            // the complete message of a refusal
  std::vector<std::string> ops;  // of the graph, each once, in the order of first use
};

/// Every Python file and task folder under `path`, or `path` itself. An Error is not about one
/// file: no such folder, an empty folder, no Python.
Result<std::vector<Screened>> screen(const std::string& path, const single_run::Progress& progress,
                                     std::shared_ptr<torch_worker::TorchProcess> torch,
                                     const std::string& mode = "");

Json to_json(const Screened& screened);

}  // namespace kw::verification
