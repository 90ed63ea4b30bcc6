// Chooses the input families for a task and draws the tensors. The same family, seed and shape give
// the same bytes on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

/// Returns the families that apply to this task's inputs; those that find most errors come first.
/// The names are those of tensor::Family, and "probe": ordinary values with one very large element
/// per input.
std::vector<std::string> families_for(const task::Task& task);
/// Returns all names that families_for() can return.
const std::vector<std::string>& all_families();

/// Returns tensors parallel to graph.inputs. Weights are drawn as ordinary values for every family.
/// Integers, bools and limited floats stay within the task's legal range.
Result<std::vector<tensor::HostTensor>> draw_inputs(const task::Task& task,
                                                    const graph::Graph& graph,
                                                    const task::Dims& dims,
                                                    const std::string& family, uint64_t seed);

/// Derives a separate seed for each purpose.
uint64_t derive_seed(uint64_t seed, uint64_t purpose);

}  // namespace kw::gate
