// Finds a Python that has torch. Checks files and runs each candidate once; no process stays.
#pragma once

#include <string>
#include <vector>

#include "torch_worker/torch_outcome.h"

namespace kw::torch_worker {

struct FoundPython {
  std::string path;     // "" when no Python has torch, or none may be run
  std::string version;  // of its torch, from the package's metadata; "" when unknown
  std::vector<std::string> looked_at =
      {};                      // one line per candidate: "/usr/bin/python3: has no module torch"
  std::string forbidden = {};  // why no Python may be run (os/permissions.h); "": it may
};

/// Only $KW_TORCH_PYTHON when it is set. Otherwise $VIRTUAL_ENV, python3 on PATH, and the
/// torch-venv that tools/setup makes in the build folder, for binaries that run from there.
/// Relative paths are not followed: any user may own the working directory. Every process that
/// executes a user's Python uses this result, so permissions are checked here.
FoundPython find_torch_python();

/// The outcome when no Python was found.
TorchOutcome no_torch(const FoundPython& found);

}  // namespace kw::torch_worker
