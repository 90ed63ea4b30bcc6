// What the engine and its GPU worker say to each other: one request frame, one reply frame. Bulk
// data lies in an arena of shared memory that both have mapped; messages name ranges of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/device.h"

namespace kw::gpu {

/// Raised whenever a message changes, so that a worker of another build is recognised.
inline constexpr uint32_t kProtocol = 1;

enum class Verb : uint8_t { Hello, Arena, Load, Unload, Run, Time, Canary };

/// Bytes of the arena.
struct Range {
  uint64_t offset = 0, bytes = 0;
};

/// One program with the places of its dense inputs and outputs, each parallel to its buffers.
struct ProgramMessage {
  exec::ImageId image = 0;
  kernel::Program program;
  std::vector<Range> inputs, outputs;
};

/// Fields are used by the verbs named beside them.
struct Request {
  Verb verb = Verb::Hello;
  uint32_t protocol = kProtocol;                // Hello
  int32_t ordinal = 0;                          // Hello
  uint64_t arena_bytes = 0;                     // Arena; its descriptor travels with the frame
  exec::ImageId image = 0;                      // Load, Unload
  exec::ImageKind kind = exec::ImageKind::Ptx;  // Load
  std::string bytes;                            // Load
  std::vector<ProgramMessage> programs;         // Run (one), Time
  exec::RunOptions options;                     // Run
  uint64_t seed = 0;                            // Run
  exec::TimeProtocol protocol_options;          // Time
};

struct Reply {
  std::string error;          // not empty: kernelwright could not, and this is why
  Blame blame = Blame::Bug;   // of the error
  bool context_lost = false;  // this worker is of no more use
  exec::DeviceInfo info;      // Hello
  exec::RunOutcome run;       // Run; without buffers
  exec::TimeOutcome time;     // Time
};

std::string encode(const Request& request);
std::string encode(const Reply& reply);
/// Blame::Bug when the bytes are not such a message.
Result<Request> decode_request(std::string_view frame);
Result<Reply> decode_reply(std::string_view frame);

}  // namespace kw::gpu
