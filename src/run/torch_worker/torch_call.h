// A request to the torch process: a callable and its arguments. Plain data; torch_process.h sends
// it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "tensor/host_tensor.h"

namespace kw::torch_worker {

/// A Python callable.
struct TorchSource {
  std::string path;   // of the file, for relative imports and messages; "": no file
  std::string text;   // replaces the file's content when not empty
  std::string entry;  // name in the file, "package.module.function", or an expression; "": Model,
                      // reference, REFERENCE, or the file's only function
  std::vector<std::pair<std::string, int64_t>> globals;  // top-level names
  // that get other values; names that the file does not define are ignored
  bool evaluation = false;           // modules are in eval mode from the start
  Json neighbours = Json::object();  // add_texts() fills it: files that it imports from its folder
};

/// One argument or weight: a tensor, otherwise a value (null, bool, number, string, list).
struct TorchArgument {
  std::string name;  // the parameter's, or the state dict entry's ('.' or '_' between its parts)
  const tensor::HostTensor* tensor = nullptr;  // not owned
  Json value;
};

/// Asks for the reference's gradients by autograd instead of its outputs.
struct TorchGradients {
  std::vector<std::string> of;        // arguments and weights; the results are named "grad_NAME"
  std::vector<std::string> upstream;  // arguments of the call that are gradients of outputs …
  std::vector<int64_t> outputs;       // … of these, counted in the order of the outputs
};

struct TorchCall {
  TorchSource source;
  std::vector<TorchArgument> arguments;
  std::vector<TorchArgument> weights;  // for modules: parameters and buffers to set
  std::vector<std::string> written;    // arguments and buffers whose final values are outputs too,
                                       // after the returned values
  bool written_only = false;           // ignore the returned values
  TorchGradients gradients;            // empty: gradients are not asked for
  std::string device = "cpu";          // or "cuda", "cuda:1"
  bool allow_tf32 = false;
  uint64_t seed = 0;  // of torch's generator, set before the file is loaded and before the call
};

}  // namespace kw::torch_worker
