// The automatic run: an author writes what an agent would write, until no gain or no method is
// left.
#pragma once

#include "optimize/steps.h"

namespace kw::optimize {

struct LoopOptions {
  bool force = false;  // continues near the peak
  std::function<bool()> cancelled;
  Say say;
};

/// Continues the run from its present phase and finalizes it. The document is that of finalize,
/// with `stopped` as the reason of the end.
Result<Outcome> optimize_all(Folder& folder, OptimizeTools& tools, Author& author,
                             const LoopOptions& options);

}  // namespace kw::optimize
