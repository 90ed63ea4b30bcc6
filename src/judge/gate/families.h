// Which kinds of input a task is tried with, and the tensors themselves: the same family, seed and
// shape give the same bytes everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

/// The families that mean something for this task's inputs, the telling ones first. Names are those
/// of tensor::Family, and "probe": ordinary values with one element per input that dwarfs the rest.
std::vector<std::string> families_for(const task::Task& task);
/// Every name families_for() can give.
const std::vector<std::string>& all_families();

/// Parallel to graph.inputs. Weights are drawn as usual numbers whatever the family; integers,
/// bools and limited floats stay within what the task calls legal.
Result<std::vector<tensor::HostTensor>> draw_inputs(const task::Task& task,
                                                    const graph::Graph& graph,
                                                    const task::Dims& dims,
                                                    const std::string& family, uint64_t seed);

/// Numbers derived from a seed: a seed of its own for every purpose.
uint64_t derive_seed(uint64_t seed, uint64_t purpose);

}  // namespace kw::gate
