// The automatic run: an author fills in what an agent would write, until nothing is left to win or
// to try.
#pragma once

#include "optimize/steps.h"

namespace kw::optimize {

struct LoopOptions {
  bool force = false;  // goes on near the peak
  std::function<bool()> cancelled;
  Say say;
};

/// Goes on from wherever the run stands and finalizes it. The document is that of finalize, with
/// `stopped` saying why it ended.
Result<Outcome> optimize_all(Folder& folder, Workshop& workshop, Author& author,
                             const LoopOptions& options);

}  // namespace kw::optimize
