// The story of `screen`: which files of a folder can become tasks, and why the others cannot. The
// front end's own verdict, and torch.export's where torch is there; nothing is run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "single_run/run.h"
#include "torch_worker/torch_process.h"

namespace kw::verification {

enum class Scope : uint8_t {
  InScope,      // a task as it stands
  OutOfScope,   // cannot be one
  NeedsReview,  // may be one with torch installed, or with something said on the command line
};
/// "in_scope", "out_of_scope" or "needs_review".
const char* scope_name(Scope scope);

struct Screened {
  std::string name, path;
  Scope scope = Scope::OutOfScope;
  std::string reader;            // "own" or "torch.export"; "" when nobody reads it
  std::string reason;            // one line
  std::string detail;            // the whole message of a refusal
  std::vector<std::string> ops;  // the graph's, each once, in the order of their first use
};

/// Every Python file and task folder beneath `path`, or the one it is. An Error for what is no
/// file's own doing: no such folder, nothing in it, no Python.
Result<std::vector<Screened>> screen(const std::string& path, const single_run::Progress& progress,
                                     std::shared_ptr<torch_worker::TorchProcess> torch);

Json to_json(const Screened& screened);

}  // namespace kw::verification
