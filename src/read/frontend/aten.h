// The second way to a graph: what torch.export says a reference computes, in the JSON of
// docs/torch-worker.md. Operators are served by the same rows as Python's functions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::frontend {

struct Exported {
  std::string path, source;                             // of the file, for the record
  std::string name;                                     // of the task
  Json graph;                                           // "format": "kernelwright-aten-1"
  std::map<std::string, tensor::HostTensor> constants;  // by the names the graph uses
  std::vector<task::ScalarSpec> scalars;                // numbers the call was made with
};

/// The graph at these dims. A dim that torch could not keep symbolic can have its own value only.
/// Parameters and buffers are inputs, named by their path as identifiers.
Result<graph::Graph> import_aten(const Exported& exported, const task::Dims& dims);

/// The task: inputs and weights, dims and shapes as exported, notes of both.
Result<task::Task> task_from_export(Exported exported);

}  // namespace kw::frontend
