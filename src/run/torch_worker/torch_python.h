// Which Python has torch. Looks at files and asks each candidate once; starts nothing that stays.
#pragma once

#include <string>
#include <vector>

#include "torch_worker/torch_outcome.h"

namespace kw::torch_worker {

struct FoundPython {
  std::string path;     // "" when there is none, or none may be run
  std::string version;  // of its torch, as the package says; "" when it does not
  std::vector<std::string> looked_at =
      {};                      // one line per candidate: "/usr/bin/python3: has no module torch"
  std::string forbidden = {};  // why none may be run (os/permissions.h); "": it may
};

/// $KW_TORCH_PYTHON alone when it is set; else $VIRTUAL_ENV, python3 on PATH, and the torch-venv
/// that tools/setup makes in the build folder, for binaries that run from there. Relative paths are
/// not followed: the working directory may be anybody's. Every process that executes a user's
/// Python is started from what this finds, so what is forbidden is forbidden here.
FoundPython find_torch_python();

/// The outcome when there is none.
TorchOutcome no_torch(const FoundPython& found);

}  // namespace kw::torch_worker
