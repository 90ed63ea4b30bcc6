// The compile worker's main loop: the same binary started with a hidden subcommand, speaking frames
// on descriptor 3.
#pragma once

namespace kw::compile {

/// The hidden subcommand's name.
inline constexpr const char* kWorkerCommand = "worker-compile";

/// Serves until the parent is gone; returns the process's exit code. Confines itself before the
/// first request.
int compile_worker_main();

}  // namespace kw::compile
