// What Python processes that run a candidate are given; and the one that runs it on a GPU, once, to
// let Triton's tuner choose among configurations. Nothing is recorded there.
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
  bool timed = false;  // where it may be timed, so that a choice among configurations counts
  const graph::Graph* graph = nullptr;
};

struct PythonRequest {
  std::string path, text, function;
  std::string reference_text;  // of a file that says what a model is made with; "" = none
  const task::Task* task = nullptr;
  std::vector<TensorLine> tensors;
  std::vector<PythonShape> shapes;
  Json tuned = Json::object();  // what a tuner on a GPU chose
  double timeout_seconds = 60;
};

struct Tuned {
  Json choices = Json::object();  // by case: a configuration's words for each tuned launch
  std::string failed;             // why there are none, or not all
};

/// What such a process answered: a line before the candidate's own code ran, and one behind it. An
/// empty object when it said nothing.
struct PythonAnswer {
  Json json = Json::object();
  bool ready = false;  // it came as far as the candidate's own code
  os::ProcessResult process;
};
PythonAnswer read_answer(os::ProcessResult process);

/// The job of a Python process: the candidate and the calls to make.
Result<Json> python_job(const PythonRequest& request, const std::string& worker);
/// The worker's own files, by name.
Json worker_files(const std::vector<std::string>& names);
/// The program that takes a job, with the files in it, from standard input; and the one that takes
/// files and then jobs from its channel.
std::string python_boot();
std::string python_keep();
/// What a process that said nothing wrote last.
std::string last_words(const os::ProcessResult& process);

/// One process over all shapes. Errors: no Python with torch.
Result<Tuned> tune_python(const PythonRequest& request);

}  // namespace kw::host_recording
