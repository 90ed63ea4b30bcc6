// The main loop of the compile worker: the same binary, started with a hidden subcommand, which
// exchanges frames on descriptor 3.
#pragma once

namespace kw::compile {

/// The hidden subcommand's name.
inline constexpr const char* kWorkerCommand = "worker-compile";

/// Serves until the parent has ended; the sandbox confined it when it was started. Returns the
/// process's exit code.
int compile_worker_main();

}  // namespace kw::compile
