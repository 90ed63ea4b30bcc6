// Asks the torch process for a reference's signature, and for its graph from torch.export.
// docs/torch-worker.md describes the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_worker/torch_process.h"

namespace kw::torch_worker {

/// An extent of an argument that should stay symbolic, and its name.
struct TorchDim {
  std::string argument;
  int dim = 0;
  std::string name;
};

/// An argument of which only dtype and shape matter.
TorchArgument zeros_argument(std::string name, tensor::DType dtype,
                             const std::vector<int64_t>& shape);

/// body: functions, constants, entry, what, parameters, inputs, init, weights, training.
TorchAnswer describe(TorchProcess& torch, const TorchSource& source, double timeout_seconds);

/// body["graph"] is the core-ATen graph. outputs are the graph's constants, by name. A dim that
/// cannot stay symbolic is fixed; the graph's notes say so.
TorchAnswer export_graph(TorchProcess& torch, const TorchCall& call,
                         const std::vector<TorchDim>& dims, double timeout_seconds);

}  // namespace kw::torch_worker
