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
#include "os/process.h"
#include "task/task.h"

namespace kw::engine {

struct PythonShape {
  task::Dims dims;
  const graph::Graph* graph = nullptr;
};

struct PythonRequest {
  std::string path, text, function;
  std::string reference_text;  // of a file that says what a model is made with; "" = none
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

/// The job of a Python process: the worker's files, the candidate and the calls to make.
Result<Json> python_job(const PythonRequest& request, const std::string& worker,
                        const std::vector<std::string>& files);
/// The program that takes it from standard input.
std::string python_boot();
/// What a process that said nothing wrote last.
std::string last_words(const os::ProcessResult& process);

/// One process over all shapes. Errors: no Python with torch, no GPU in it.
Result<PythonCapture> capture_python(const PythonRequest& request);

}  // namespace kw::engine
