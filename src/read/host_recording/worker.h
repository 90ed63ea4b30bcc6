// The captive process: loads a foreign library against the recording runtime and calls its
// launcher. It has no GPU, can write no file, start nothing and talk to nobody; what it says is a
// recording.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "host_recording/job.h"

namespace kw::host_recording {

/// The process itself: behind a hidden subcommand.
int captive_worker_main();

/// What came of one captive process.
struct Captured {
  std::string text;       // as far as it got
  bool finished = false;  // it made every call
  std::string ended;      // else how it ended: "it was killed by …"
};

/// Runs one captive to its end, `timeout_seconds` at most.
Result<Captured> run_captive(const Job& job, double timeout_seconds);

}  // namespace kw::host_recording
