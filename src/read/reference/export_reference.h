// The second way to a task: where our own reader of Python refuses a reference, torch.export says
// what it computes. Exported anew at every shape, so that what the reference decides by its shapes
// is decided again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "frontend/aten.h"
#include "frontend/spec_text.h"
#include "task/task.h"
#include "task_formats/load_source.h"
#include "torch_worker/torch_call.h"
#include "torch_worker/torch_process.h"

namespace kw::reference {

struct DimValue {};  // the dim of the parameter's own name
struct ExportArgument {
  std::string name;
  std::variant<frontend::TensorText, DimValue, Json> value;  // Json: as TorchArgument has it
};

/// A callable of Python and how its parameters get their values.
struct ExportEntry {
  torch_worker::TorchSource source;
  std::vector<ExportArgument> arguments;
  std::vector<std::string> output_names;  // of the task; empty: torch's
};

class ExportedReference : public task::Reference {
 public:
  ExportedReference(ExportEntry entry, std::shared_ptr<torch_worker::TorchProcess> torch)
      : entry_(std::move(entry)), torch_(std::move(torch)) {}

  Result<graph::Graph> trace(const task::Dims& dims) const override;
  /// What torch.export says at these dims; an input Error says why it refuses.
  Result<frontend::Exported> exported(const task::Dims& dims) const;
  /// The call at these dims; `inputs` is parallel to graph.inputs. Without inputs: zeros.
  Result<torch_worker::TorchCall> call(const task::Dims& dims, const graph::Graph& graph,
                                       const std::vector<tensor::HostTensor>& inputs) const;
  const ExportEntry& entry() const { return entry_; }

 private:
  Result<graph::Graph> import(const task::Dims& dims) const;
  Result<frontend::Exported> ask(const task::Dims& dims, bool symbolic) const;

  const ExportEntry entry_;
  const std::shared_ptr<torch_worker::TorchProcess> torch_;
  mutable std::mutex mutex_;
  mutable std::map<task::Dims, Result<graph::Graph>> graphs_;
};

/// The task behind the text of a Python file, by torch alone. `refused`: what our own reader said,
/// for the notes.
Result<task::Task> load_exported(const std::string& text, const std::string& path,
                                 const task_formats::LoadRequest& request,
                                 std::shared_ptr<torch_worker::TorchProcess> torch,
                                 const std::string& refused);

}  // namespace kw::reference
