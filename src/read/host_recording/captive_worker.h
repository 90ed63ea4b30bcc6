// The confined worker process: it loads a foreign library against the recording runtime and calls
// its launcher. It has no GPU; it cannot write files, start processes or use a network. Its output
// is a recording.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "host_recording/recording_job.h"

namespace kw::host_recording {

/// The main function of the process, behind a hidden subcommand.
int captive_worker_main();

/// The result of one worker process.
struct Captured {
  std::string text;       // the recording until the process ended
  bool finished = false;  // it made every call
  std::string ended;      // otherwise how it ended: "it was killed by …"
};

/// Runs one worker to its end, `timeout_seconds` at most.
Result<Captured> run_captive(const CaptiveJob& job, double timeout_seconds);

}  // namespace kw::host_recording
