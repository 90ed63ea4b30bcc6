// The worker process: owns the context of one GPU and serves kernelwright's requests at
// descriptor 3. It is replaced when a candidate has destroyed the context.
#pragma once

namespace kw::gpu {

/// Serves until kernelwright has ended or the context is lost. Returns the process's exit code.
int gpu_worker_main();

}  // namespace kw::gpu
