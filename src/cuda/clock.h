// Times programs on the device, in this process. Returns raw samples; what they mean is decided
// elsewhere (bench).
//
// From graph_below_us on, each call stands between two events while a gate kernel holds the stream
// until the whole call is queued, so that launch latency is not measured. Shorter calls would drown
// in the events' own cost: there, one sample is a CUDA graph of several copies of the call, each
// with its own set of buffers, divided by the copies. With cold_cache the L2 is swept before every
// sample (write, then read: no dirty lines left to be paid for), and each copy in a graph touches
// buffers no copy before it has touched. Programs are interleaved forwards and backwards (ABBA), so
// that drift of clocks and temperature meets all of them alike.
#pragma once

#include <vector>

#include "cuda/buffers.h"
#include "cuda/image.h"
#include "cuda/utility_kernels.h"
#include "exec/device.h"

namespace kw::cuda {

struct TimeRequest {
  LoadedImage* image = nullptr;
  const kernel::Program* program = nullptr;
  ConstBytes inputs;
};

struct TimeReport {
  exec::TimeOutcome outcome;
  bool device_lost = false;
};

/// Every program must have passed check_program. On failure the message names the program's module.
TimeReport time_programs(const Context& context, UtilityKernels& utilities,
                         const std::vector<TimeRequest>& programs,
                         const exec::TimeProtocol& protocol);

}  // namespace kw::cuda
