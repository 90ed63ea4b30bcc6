#include "host_recording/python_request.h"

#include <fmt/core.h>

#include <filesystem>

#include "core/one_line.h"
#include "core/text.h"
#include "kForeignWorkerFiles.inc"
#include "os/process.h"
#include "os/scratch.h"
#include "torch_worker/torch_confinement.h"
#include "torch_worker/torch_python.h"

namespace kw::host_recording {
namespace {

Json shape_json(const std::vector<int64_t>& shape) {
  Json out = Json::array();
  for (const int64_t extent : shape) out.push(extent);
  return out;
}

Result<Json> case_json(const PythonRequest& request, const PythonShape& shape) {
  Json tensors = Json::array(), numbers = Json::object();
  for (const TensorLine& line : request.tensors) {
    std::vector<int64_t> extents;
    if (const task::TensorSpec* spec = request.task->find_input(line.name)) {
      extents = KW_TRY(request.task->shape_of(*spec, shape.dims));
    } else {
      for (const graph::NamedNode& one : shape.graph->outputs) {
        if (one.name != line.name) continue;
        for (const graph::Dim& dim : (*shape.graph)[one.node].shape) extents.push_back(dim.value());
      }
    }
    tensors.push(Json::object()
                     .set("name", line.name)
                     .set("role", kernel::role_name(line.role))
                     .set("dtype", tensor::dtype_name(line.dtype))
                     .set("shape", shape_json(extents)));
  }
  for (const auto& [name, value] : shape.dims) numbers.set(name, value);
  for (const task::ScalarSpec& one : request.task->scalars)
    numbers.set(one.name, tensor::is_float(one.dtype) ? Json(one.number) : Json(one.integer));
  return Json::object()
      .set("tensors", std::move(tensors))
      .set("numbers", std::move(numbers))
      .set("timed", shape.timed);
}

std::string worker_file(const std::string& name) {
  for (const auto* file = kForeignWorkerFiles; file->name != nullptr; ++file) {
    if (name + ".py" == file->name) return file->text;
  }
  return "";
}

/// Uses the sandbox of the torch process: the tuned code is the candidate's own Python.
Result<PythonAnswer> ask_python(const PythonRequest& request, const std::string& python) {
  const os::ScratchFolder folder = KW_TRY(os::ScratchFolder::make("foreign"));
  Json job = KW_TRY(python_job(request, "tune"));
  job.set("files", worker_files({"common", "tune"}));
  torch_worker::TorchConfinement walls =
      KW_TRY(torch_worker::torch_confinement(python, folder.path(), sandbox::Kind::Tuner));
  walls.job.environment.emplace_back("CUDA_CACHE_DISABLE=1");
  os::ProcessLimits limits;
  limits.timeout_seconds = request.timeout_seconds;
  limits.output_bytes = 256 << 20;
  torch_worker::announce_execution(request.path, request.text);
  return read_answer(KW_TRY(sandbox::run(walls.job, {walls.python, "-I", "-B", "-c", python_boot()},
                                         job.dump(), limits)));
}

}  // namespace

std::string python_boot() { return worker_file("boot"); }
std::string python_keep() { return worker_file("keep"); }

Json worker_files(const std::vector<std::string>& names) {
  Json texts = Json::object();
  for (const std::string& name : names) texts.set(name, worker_file(name));
  return texts;
}

Result<Json> python_job(const PythonRequest& request, const std::string& worker) {
  Json inputs = Json::array(), outputs = Json::array(), cases = Json::array();
  for (const TensorLine& line : request.tensors)
    (line.role == kernel::Role::Output ? outputs : inputs).push(line.name);
  for (const PythonShape& shape : request.shapes) cases.push(KW_TRY(case_json(request, shape)));
  return Json::object()
      .set("worker", worker)
      .set("path", std::filesystem::absolute(request.path).string())
      .set("text", request.text)
      .set("reference_text", request.reference_text)
      .set("function", request.function)
      .set("task", request.task->name)
      .set("inputs", std::move(inputs))
      .set("outputs", std::move(outputs))
      .set("tuned", request.tuned)
      .set("seconds", request.timeout_seconds)
      .set("cases", std::move(cases));
}

PythonAnswer read_answer(os::ProcessResult process) {
  PythonAnswer answer;
  const std::vector<std::string_view> lines = split_lines(process.out);
  const auto line = [&](size_t at) {
    Result<Json> read = Json::parse(at < lines.size() ? lines[at] : "");
    return read && read->is_object() ? std::move(read).value() : Json::object();
  };
  answer.ready = line(0).contains("ready");
  answer.json = line(answer.ready ? 1 : 0);
  answer.process = std::move(process);
  return answer;
}

std::string last_output(const os::ProcessResult& process) {
  const std::string_view all = trim(process.err);
  const size_t at = all.rfind('\n');
  return std::string(at == std::string_view::npos ? all : all.substr(at + 1));
}

Result<Tuned> tune_python(const PythonRequest& request) {
  const auto python = torch_worker::find_torch_python();
  if (python.path.empty())
    return environment_error("recording a Python candidate: " +
                             torch_worker::no_torch(python).message);
  Tuned tuned;
  const PythonAnswer answer = KW_TRY(ask_python(request, python.path));
  tuned.choices = answer.json["tuned"];
  tuned.failed = answer.json["error"].as_string();
  if (tuned.failed.empty()) tuned.failed = answer.json["ended"].as_string();
  if (tuned.failed.empty() && answer.process.timed_out) tuned.failed = "it did not finish";
  if (tuned.failed.empty() && !answer.json.contains("tuned"))
    tuned.failed = "the process ended: " + last_output(answer.process);
  tuned.failed = one_line(tuned.failed);
  return tuned;
}

}  // namespace kw::host_recording
