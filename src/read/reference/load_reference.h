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

/// Splits "rms_norm.py:rms_norm" into path and function. A file that exists under the whole name is
/// not split. Input Error when `function` already names another one.
Status split_name(std::string& path, std::string& function);

struct ReferenceRequest {
  std::string path;                     // a Python file, FILE.py:NAME or a task folder
  std::string function;                 // "": the only one, or the one called reference
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // replace the dims of the file
  std::shared_ptr<torch_worker::TorchProcess> torch =
      {};                     // shared with its other users; may be null
  bool spare_inputs = false;  // allow an input without a parameter in the reference
  task_formats::LauncherParameters launcher = {};  // of a flat reference
  std::string mode = {};    // "eval": its modules are in eval mode; "" or "train": as written
  std::string device = {};  // "vgpu": assumed shapes suit the virtual GPU even beside a GPU
};
Result<task::Task> load_reference(const ReferenceRequest& request);

/// Reads "tf32,batch-invariant" into a task's precision; the input Error lists the known words.
Status read_precision(const std::string& words, task::Precision& precision);

}  // namespace kw::reference
