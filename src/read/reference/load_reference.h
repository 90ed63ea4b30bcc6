// The task behind a reference: read by us, or by torch.export where our reader does not know
// something.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"
#include "torch_worker/torch_process.h"

namespace kw::reference {

/// The torch process of one command; nothing starts before it is asked.
std::shared_ptr<torch_worker::TorchProcess> open_torch();

struct ReferenceRequest {
  std::string path;                     // a Python file or a task folder
  std::string function;                 // "" = the only one, or the one called reference
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // instead of the file's own
  std::shared_ptr<torch_worker::TorchProcess> torch =
      {};                     // shared with what else asks it; may be null
  bool spare_inputs = false;  // an input the reference has no parameter for is no error
  task_formats::LauncherParameters launcher = {};  // of a flat reference
};
Result<task::Task> load_reference(const ReferenceRequest& request);

/// "tf32,deterministic" into a task's precision; input Error with the words there are.
Status read_precision(const std::string& words, task::Precision& precision);

}  // namespace kw::reference
