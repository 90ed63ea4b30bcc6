// Chooses the input families for a task and draws the tensors. The same family, seed and shape give
// the same bytes on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "inputs/immediates.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::inputs {

/// The family that plants the constants of the candidate's own code. It has no meaning without one,
/// so families_for() does not name it.
inline constexpr const char* kImmediatesFamily = "immediates";

/// Returns the families that apply to this task's inputs; those that find most errors come first.
/// The table of docs/verify.md describes each.
std::vector<std::string> families_for(const task::Task& task);
/// Returns all names that draw_inputs() knows.
const std::vector<std::string>& all_families();

/// Returns tensors parallel to graph.inputs. Integers, bools and limited floats stay within the
/// task's legal range. `immediates`: of the candidate, for kImmediatesFamily; may be null.
Result<std::vector<tensor::HostTensor>> draw_inputs(const task::Task& task,
                                                    const graph::Graph& graph,
                                                    const task::Dims& dims,
                                                    const std::string& family, uint64_t seed,
                                                    const Immediates* immediates = nullptr);

/// An input Error if an integer input has elements but no legal value at these dims.
Status check_legal(const task::Task& task, const graph::Graph& graph, const task::Dims& dims);

/// Derives a separate seed for each purpose.
uint64_t derive_seed(uint64_t seed, uint64_t purpose);

/// What a family must not leave out by chance it deals by turns: a few cells whose seeds have
/// consecutive turns see all of it, whatever the first turn is.
inline constexpr uint64_t kTurns = 1 << 16;
constexpr uint64_t with_turn(uint64_t seed, uint64_t turn) {
  return (seed * kTurns + turn % kTurns) & INT64_MAX;  // seeds are written and parsed as int64
}
/// How many structures there are, and how long the part of a vector is that has one.
inline constexpr int64_t kStructures = 10, kStructureSegment = 64;

/// Returns 0 … count - 1 in an order that the seed decides.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed);

}  // namespace kw::inputs
