#include "reference/load_reference.h"

#include <optional>

#include "core/text.h"
#include "frontend/backward.h"
#include "frontend/refusals.h"
#include "machine/devices.h"
#include "os/files.h"
#include "reference/export_reference.h"
#include "task_formats/load.h"
#include "task_formats/load_rkb.h"
#include "torch_worker/torch_python.h"

namespace kw::reference {
namespace {

/// Torch may know an operation that our reader does not; it cannot repair a wrong request.
constexpr const char* kOtherWayOut =
    "write it with supported operations, or leave it outside of the reference";

bool may_be_exported(const Error& refused) {
  const bool unsupported = refused.message.find("not supported") != std::string::npos ||
                           refused.message.find(frontend::kWayOut + 3) != std::string::npos;
  return refused.blame == Blame::Input && unsupported;
}

/// The refusal without the advice to install torch.
std::string without_way_out(const std::string& message) {
  return replace_all(message, frontend::kWayOut + 3, kOtherWayOut);
}

}  // namespace

Status read_precision(const std::string& words, task::Precision& precision) {
  const std::vector<std::string> known = {"ieee", "tf32", "flush", "deterministic",
                                          "batch-invariant"};
  if (words.empty()) return Done{};
  for (const std::string& piece : split(words, ',')) {
    const std::string word(trim(piece));
    if (word == "tf32")
      precision.allow_tf32 = true;
    else if (word == "flush")
      precision.flush = true;
    else if (word == "deterministic")
      precision.deterministic = true;
    else if (word == "batch-invariant")
      precision.batch_invariant = true;
    else if (word.empty())
      return input_error("'{}' holds an empty name; names are: {}", words, join(known, ", "));
    else if (word != "ieee")
      return input_error("'{}' is not one of {}{}", word, join(known, ", "),
                         did_you_mean(word, known));
  }
  return Done{};
}

Status split_name(std::string& path, std::string& function) {
  const size_t colon = path.rfind(':');
  if (colon == std::string::npos || os::exists(path)) return Done{};
  const std::string name = path.substr(colon + 1);
  if (name.empty() || name.find('/') != std::string::npos) return Done{};
  // --backward without --function became the function 'backward'.
  const bool gradients = function == "backward" && name != function;
  if (!function.empty() && function != name && !gradients)
    return input_error("--function {} and {} name two functions", function, path);
  function = gradients ? name + ".backward" : name;
  path.resize(colon);
  return Done{};
}

namespace {

Result<bool> evaluates(const std::string& mode) {
  if (mode == "eval") return true;
  if (mode.empty() || mode == "train") return false;
  return input_error("--mode: '{}' is not one of train, eval", mode);
}

}  // namespace

Result<task::Task> load_reference(const ReferenceRequest& typed) {
  ReferenceRequest request = typed;
  KW_TRY(split_name(request.path, request.function));
  task_formats::LoadOptions options;
  options.function = request.function;
  options.inputs = request.inputs;
  options.dims = request.dims;
  options.spare_inputs = request.spare_inputs;
  options.launcher = request.launcher;
  options.evaluation = KW_TRY(evaluates(request.mode));
  options.has_gpu = [&request] { return request.device != "vgpu" && machine::has_gpu(); };
  options.other_reader = [&request](const std::string& text, const std::string& path,
                                    const task_formats::LoadRequest& what,
                                    Error refused) -> Result<task::Task> {
    if (!may_be_exported(refused)) return refused;
    const torch_worker::FoundPython python = torch_worker::find_torch_python();
    if (!python.forbidden.empty())
      return input_error("{}\n  PyTorch may read it by running it, but {}",
                         without_way_out(refused.message), python.forbidden);
    if (python.path.empty()) return refused;
    const auto torch = request.torch != nullptr ? request.torch : open_torch();
    Result<task::Task> exported = load_exported(text, path, what, torch, refused.message);
    if (exported) return exported;
    // Torch is installed and refused too, so the advice to install it must go.
    return input_error("{}\n  and torch.export does not read it either: {}",
                       without_way_out(refused.message), exported.error().message);
  };
  const std::optional<std::string> forward = frontend::forward_function(request.function);
  if (!forward) return task_formats::load_task(request.path, options);
  if (forward->empty()) {
    // A function that is itself named backward takes precedence over derived gradients.
    task_formats::LoadOptions own = options;
    own.other_reader = {};
    Result<task::Task> named = task_formats::load_task(request.path, own);
    // The same holds for a folder's own backward file, even if it has errors.
    if (named || task_formats::has_rkb_backward(request.path)) return named;
  }
  options.function = *forward;
  const task::Task task = KW_TRY(task_formats::load_task(request.path, options));
  task::Task gradients = KW_TRY(frontend::backward_task(task));
  if (!task.function.empty()) gradients.function = task.function + ".backward";
  return gradients;
}

std::shared_ptr<torch_worker::TorchProcess> open_torch() {
  return std::make_shared<torch_worker::TorchProcess>();
}

}  // namespace kw::reference
