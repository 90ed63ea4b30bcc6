// The worker process: owns one GPU's context, serves the engine's requests at descriptor 3, and is
// thrown away when a candidate has ruined the context.
#pragma once

namespace kw::gpu {

/// Serves until the engine is gone or the context is lost. Returns the process's exit code.
int gpu_worker_main();

}  // namespace kw::gpu
