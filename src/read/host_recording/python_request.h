// The requests for Python processes that run a candidate. Also the process that runs it once on a
// GPU, so that Triton's tuner can choose among configurations; that run is not recorded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "host_recording/recording.h"
#include "host_recording/transplant.h"
#include "os/process.h"
#include "task/task.h"

namespace kw::host_recording {

struct PythonShape {
  task::Dims dims;
  bool timed = false;  // may be timed, so a choice among configurations matters
  const graph::Graph* graph = nullptr;
};

struct PythonRequest {
  std::string path, text, function;
  std::string reference_text;  // of a file with a model's arguments; "": none
  const task::Task* task = nullptr;
  std::vector<TensorLine> tensors;
  std::vector<PythonShape> shapes;
  Json tuned = Json::object();  // choices of a tuner on a GPU
  double timeout_seconds = 60;
};

struct Tuned {
  Json choices = Json::object();  // by case: a configuration for each tuned launch
  std::string failed;             // why choices are missing
};

/// The answer of such a process: one line before the candidate's own code runs, and one after it.
/// An empty object if the process wrote no answer.
struct PythonAnswer {
  Json json = Json::object();
  bool ready = false;  // it reached the candidate's own code
  os::ProcessResult process;
};
PythonAnswer read_answer(os::ProcessResult process);

/// The job of a Python process: the candidate and the calls to make.
Result<Json> python_job(const PythonRequest& request, const std::string& worker);
/// The worker's own files, by name.
Json worker_files(const std::vector<std::string>& names);
/// python_boot() reads a job, with the files in it, from standard input. python_keep() reads files
/// and then jobs from its channel.
std::string python_boot();
std::string python_keep();
/// The last output of a process without an answer.
std::string last_output(const os::ProcessResult& process);

/// One process over all shapes. An Error if Python with torch is missing.
Result<Tuned> tune_python(const PythonRequest& request);

}  // namespace kw::host_recording
