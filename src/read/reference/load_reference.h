// Loads the task of a reference: our own reader tries first, then torch.export if the reader
// refuses.
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

/// The torch process of one command; it starts at the first request.
std::shared_ptr<torch_worker::TorchProcess> open_torch();

struct ReferenceRequest {
  std::string path;                     // a Python file or a task folder
  std::string function;                 // "": the only one, or the one called reference
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // replace the dims of the file
  std::shared_ptr<torch_worker::TorchProcess> torch =
      {};                     // shared with its other users; may be null
  bool spare_inputs = false;  // allow an input without a parameter in the reference
  task_formats::LauncherParameters launcher = {};  // of a flat reference
};
Result<task::Task> load_reference(const ReferenceRequest& request);

/// Reads "tf32,deterministic" into a task's precision; the input Error lists the known words.
Status read_precision(const std::string& words, task::Precision& precision);

}  // namespace kw::reference
