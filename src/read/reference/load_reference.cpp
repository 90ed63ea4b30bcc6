#include "reference/load_reference.h"

#include <fmt/core.h>

#include <optional>

#include "core/text.h"
#include "frontend/backward.h"
#include "frontend/refusals.h"
#include "reference/export_reference.h"
#include "task_formats/load.h"
#include "task_formats/load_rkb.h"
#include "torch_worker/torch_python.h"

namespace kw::reference {
namespace {

/// What our reader does not know, torch may; what is wrong with the request, it cannot mend.
constexpr const char* kOtherWayOut =
    "write it with supported operations, or leave it outside of the reference";

bool may_be_exported(const Error& refused) {
  const bool unsupported = refused.message.find("not supported") != std::string::npos ||
                           refused.message.find(frontend::kWayOut + 3) != std::string::npos;
  return refused.blame == Blame::Input && unsupported;
}

/// The refusal where "install torch" is not the way out.
std::string without_way_out(const std::string& message) {
  return replace_all(message, frontend::kWayOut + 3, kOtherWayOut);
}

}  // namespace

Status read_precision(const std::string& words, task::Precision& precision) {
  const std::vector<std::string> known = {"ieee", "tf32", "flush", "deterministic"};
  for (const std::string& piece : split(words, ',')) {
    const std::string word(trim(piece));
    if (word == "tf32")
      precision.allow_tf32 = true;
    else if (word == "flush")
      precision.flush = true;
    else if (word == "deterministic")
      precision.deterministic = true;
    else if (!word.empty() && word != "ieee")
      return input_error(fmt::format("--precision: '{}' is none of {}{}", word, join(known, ", "),
                                     did_you_mean(word, known)));
  }
  return Done{};
}

Result<task::Task> load_reference(const ReferenceRequest& request) {
  task_formats::LoadOptions options;
  options.function = request.function;
  options.inputs = request.inputs;
  options.dims = request.dims;
  options.spare_inputs = request.spare_inputs;
  options.launcher = request.launcher;
  options.other_reader = [&request](const std::string& text, const std::string& path,
                                    const task_formats::LoadRequest& what,
                                    Error refused) -> Result<task::Task> {
    if (!may_be_exported(refused)) return refused;
    const torch_worker::FoundPython python = torch_worker::find_torch_python();
    if (!python.forbidden.empty())
      return input_error(fmt::format("{}\n  PyTorch may read it by running it, but {}",
                                     without_way_out(refused.message), python.forbidden));
    if (python.path.empty()) return refused;
    const auto torch = request.torch != nullptr ? request.torch : open_torch();
    Result<task::Task> exported = load_exported(text, path, what, torch, refused.message);
    if (exported) return exported;
    // Torch is here and was no help, so "install torch" is no longer the way out.
    return input_error(fmt::format("{}\n  and torch.export does not read it either: {}",
                                   without_way_out(refused.message), exported.error().message));
  };
  const std::optional<std::string> forward = frontend::forward_function(request.function);
  if (!forward) return task_formats::load_task(request.path, options);
  if (forward->empty()) {
    // A function that is called backward is what was asked for.
    task_formats::LoadOptions own = options;
    own.other_reader = {};
    Result<task::Task> named = task_formats::load_task(request.path, own);
    // So is a folder's own backward file, whatever is wrong with it.
    if (named || task_formats::has_rkb_backward(request.path)) return named;
  }
  options.function = *forward;
  const task::Task task = KW_TRY(task_formats::load_task(request.path, options));
  return frontend::backward_task(task);
}

std::shared_ptr<torch_worker::TorchProcess> open_torch() {
  return std::make_shared<torch_worker::TorchProcess>();
}

}  // namespace kw::reference
