// The `describe` command: how the front end reads a reference. Nothing is run.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/cost.h"
#include "reference/load_reference.h"
#include "task/task.h"

namespace kw::verification {

/// A tensor at one shape.
struct DescribedTensor {
  std::string name, dtype;
  std::vector<std::string> shape;  // in terms of the dims: "B", "2 * D"
  std::vector<int64_t> extents;    // at the described shape
};

struct Description {
  task::Task task;
  std::string hash;
  task::Dims dims;  // the shape of all members below
  std::vector<DescribedTensor> inputs, outputs;
  std::vector<std::string> ops;     // one line each, as graphs are printed
  std::vector<std::string> guards;  // what the trace assumed about the dims
  graph::Cost cost;
};

/// At the given dims, or at the task's first benchmark shape.
Result<Description> describe_task(const reference::ReferenceRequest& request);
Json to_json(const Description& description);

}  // namespace kw::verification
