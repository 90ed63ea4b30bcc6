// The second way to a task: if our own reader of Python refuses a reference, torch.export tells
// what it computes. The reference is exported at every shape again, so that its decisions about
// shapes are made again.
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

struct DimValue {};  // the dim with the parameter's name
struct ExportArgument {
  std::string name;
  std::variant<frontend::TensorText, DimValue, Json> value;  // Json: in the form of TorchArgument
};

/// A Python callable and where its parameters get their values.
struct ExportEntry {
  torch_worker::TorchSource source;
  std::vector<ExportArgument> arguments;
  std::vector<std::string> output_names;  // of the task; empty: torch's names
};

class ExportedReference : public task::Reference {
 public:
  ExportedReference(ExportEntry entry, std::shared_ptr<torch_worker::TorchProcess> torch)
      : entry_(std::move(entry)), torch_(std::move(torch)) {}

  Result<graph::Graph> trace(const task::Dims& dims) const override;
  bool is_slow() const override { return true; }
  /// The result of torch.export at these dims; an input Error gives the reason for a refusal.
  Result<frontend::Exported> exported(const task::Dims& dims) const;
  /// The call at these dims; `inputs` is parallel to graph.inputs. Empty `inputs` mean zeros.
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

/// Loads the task of a Python file with torch alone. `refused` is the message of our own reader,
/// for the notes.
Result<task::Task> load_exported(const std::string& text, const std::string& path,
                                 const task_formats::LoadRequest& request,
                                 std::shared_ptr<torch_worker::TorchProcess> torch,
                                 const std::string& refused);

}  // namespace kw::reference
