// The second way to a graph: reads the graph that torch.export gives for a reference, in the JSON
// of docs/torch-worker.md. The rows of Python's functions serve its operators too.
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
  std::string path, source;                             // of the file, kept with the task
  std::string name;                                     // of the task
  Json graph;                                           // "format": "kernelwright-aten-1"
  std::map<std::string, tensor::HostTensor> constants;  // by their names in the graph
  std::vector<task::ScalarSpec> scalars;                // numbers among the call's arguments
};

/// The graph at these dims. A dim that torch.export fixed has one value only. Parameters and
/// buffers become inputs; the name is their path as an identifier.
Result<graph::Graph> import_aten(const Exported& exported, const task::Dims& dims);

/// The task with inputs, weights, dims and shapes as exported. Notes come from the export, too.
Result<task::Task> task_from_export(Exported exported);

}  // namespace kw::frontend
