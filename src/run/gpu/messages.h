// The messages between kernelwright and its GPU worker: one request frame, one reply frame. Bulk
// data is in an arena of shared memory; messages name ranges of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "ports/device.h"

namespace kw::gpu {

/// Raise this whenever a message changes, so that a worker of another build is refused.
inline constexpr uint32_t kProtocol = 4;

enum class Verb : uint8_t { Hello, Arena, Load, Unload, Run, Time, Canary, Calibrate };

/// A range of bytes in the arena.
struct Range {
  uint64_t offset = 0, bytes = 0;
};

/// Names the contents of an input, so that a worker can keep it. Made by input_key(); never 0.
using InputKey = uint64_t;

/// Where the dense contents of one buffer are: kept by the worker under a key, or in the arena.
struct InputRef {
  InputKey key = 0;  // 0: in the arena
  Range range;
};

/// One program with its inputs and the places for its outputs.
struct ProgramMessage {
  ports::ImageId image = 0;
  kernel::Program program;
  std::vector<std::vector<InputRef>> pool;  // sets of inputs, each parallel to the buffers
  std::vector<std::vector<Range>> outputs;  // places for outputs, parallel to the buffers
};

/// An input that the worker must keep.
struct Upload {
  InputKey key = 0;
  Range range;
};

/// The comment of a field names the verbs that use it.
struct Request {
  Verb verb = Verb::Hello;
  uint32_t protocol = kProtocol;                  // Hello
  int32_t ordinal = 0;                            // Hello
  uint64_t arena_bytes = 0;                       // Arena; its descriptor is sent with the frame
  ports::ImageId image = 0;                       // Load, Unload
  ports::ImageKind kind = ports::ImageKind::Ptx;  // Load
  std::string bytes;                              // Load
  std::vector<InputKey> drops;                    // Run, Time: kept inputs to drop, first
  std::vector<Upload> uploads;                    // Run, Time: inputs to keep, after the drops
  std::vector<ProgramMessage> programs;           // Run (one), Time
  ports::RunOptions options;                      // Run
  uint64_t seed = 0;                              // Run
  ports::TimeProtocol protocol_options;           // Time
};

struct Reply {
  std::string error;                        // not empty: the request failed, for this reason
  Blame blame = Blame::Bug;                 // of the error
  bool context_lost = false;                // this worker cannot be used any more
  ports::DeviceInfo info;                   // Hello
  ports::RunOutcome run;                    // Run; without buffers
  ports::TimeOutcome time;                  // Time; copied calls without buffers
  std::vector<std::vector<int32_t>> slots;  // Time: the place in outputs of each copied call
  std::string calibration;                  // Calibrate, as JSON
  std::vector<InputKey> lost;               // inputs it does not keep: nothing was run, send them
};

std::string encode(const Request& request);
std::string encode(const Reply& reply);
/// Blame::Bug when the bytes are not such a message.
Result<Request> decode_request(std::string_view frame);
Result<Reply> decode_reply(std::string_view frame);

}  // namespace kw::gpu
