// What an evaluator is told before it runs, what it tells about drawn tensors, and its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "task/task.h"

namespace kw::frontend {

/// What becomes of a tensor that torch.randn and its like make.
enum class Randomness : uint8_t {
  Refused,  // inside the reference
  Weight,   // while a model is made: a weight of the task
  Input,    // in get_inputs(): an input of the task
};

/// A tensor whose values the task draws: its node and what they must keep to.
struct Drawn {
  graph::NodeId node = -1;
  task::Legal legal;
  bool trained = false;                         // a parameter; not a buffer
  std::optional<double> filled = std::nullopt;  // with one number throughout, by the file
};

struct Settings {
  /// Ints at file level that become dims, and their values here.
  task::Dims dims;
  /// Every int at file level becomes a dim: to find out which ones are shapes.
  bool every_int = false;
};

/// More than the memory of any GPU: such a tensor is a mistake.
inline constexpr double kMaxTensorBytes = 274877906944.0;  // 256 GiB
inline constexpr int64_t kMaxSteps = 3'000'000;
inline constexpr int kMaxCallDepth = 60;
inline constexpr size_t kMaxNodes = 100'000;

}  // namespace kw::frontend
