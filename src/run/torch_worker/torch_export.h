// What the torch process can say of a reference beside its results: its signature, and its graph as
// torch.export sees it. The JSON is described in docs/torch-worker.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_worker/torch_process.h"

namespace kw::torch_worker {

/// An extent of an argument that shall stay symbolic, and its name.
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

/// The core-ATen graph: body["graph"]; outputs: values of the graph's constants, by name. Dims that
/// cannot stay symbolic are fixed, which the graph's notes say.
TorchAnswer export_graph(TorchProcess& torch, const TorchCall& call,
                         const std::vector<TorchDim>& dims, double timeout_seconds);

}  // namespace kw::torch_worker
