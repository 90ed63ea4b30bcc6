// The settings of a tracer, its description of random tensors, and its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "task/task.h"

namespace kw::frontend {

/// How the tracer treats a tensor from torch.randn or a similar function.
enum class Randomness : uint8_t {
  Refused,  // inside the reference
  Weight,   // while a module is constructed: a weight of the task
  Input,    // in get_inputs(): an input of the task
};

/// A tensor whose values the task draws: its node, and the values that are allowed.
struct Drawn {
  graph::NodeId node = -1;
  task::Legal legal;
  bool trained = false;                         // a parameter; not a buffer
  std::optional<double> filled = std::nullopt;  // the one number that the file fills it with
};

struct TraceSettings {
  /// Ints at file level that become dims, with their values in this trace.
  task::Dims dims;
  /// Every int at file level becomes a dim: to find out which ones occur in shapes.
  bool every_int = false;
  /// Modules are in eval mode from the start: dropout keeps all, norms use running statistics.
  bool evaluation = false;
};

/// The largest tensor, in bytes. No GPU has more memory, so a larger tensor is a mistake.
inline constexpr double kMaxTensorBytes = 274877906944.0;  // 256 GiB
inline constexpr int64_t kMaxSteps = 3'000'000;
inline constexpr int kMaxCallDepth = 60;
inline constexpr size_t kMaxNodes = 100'000;

}  // namespace kw::frontend
