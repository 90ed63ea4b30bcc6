// Python candidates: a ModelNew or a function runs in a Python process on the GPU, which writes
// down the Triton kernels it launches. What comes back is a recording as that of any captive.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "captive/recording.h"
#include "captive/transplant.h"
#include "graph/graph.h"
#include "task/task.h"

namespace kw::engine {

struct PythonShape {
  task::Dims dims;
  const graph::Graph* graph = nullptr;
};

struct PythonRequest {
  std::string path, function;
  const task::Task* task = nullptr;
  std::vector<captive::TensorLine> tensors;
  std::vector<PythonShape> shapes;
  Json tuned = Json::object();  // what another process's tuner chose
  double timeout_seconds = 60;
};

struct PythonCapture {
  std::vector<captive::CaseRecord> cases;
  std::map<std::string, std::string> images;  // PTX by entry
  std::string refused;
  Json tuned;
  bool confined = true;  // it could write no file but in a folder of its own
};

/// One process over all shapes. Errors: no Python with torch, no GPU in it.
Result<PythonCapture> capture_python(const PythonRequest& request);

}  // namespace kw::engine
