// What the torch process is asked: which callable, with what. Plain data; torch_process.h sends it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "tensor/host_tensor.h"

namespace kw::torch_worker {

/// A callable of Python.
struct TorchSource {
  std::string path;   // of the file; relative imports and messages go by it. "": no file
  std::string text;   // stands for the file's content when not empty
  std::string entry;  // name in the file, "package.module.function", or an expression; "": Model,
                      // reference, REFERENCE, or the file's only function
  std::vector<std::pair<std::string, int64_t>> globals;  // top-level names
  // that get other values; those the file does not have are ignored
};

/// One argument or weight: a tensor, else a value (null, bool, number, string, list).
struct TorchArgument {
  std::string name;  // of the parameter; of the state dict's entry ('.' or '_' between its parts)
  const tensor::HostTensor* tensor = nullptr;  // not owned
  Json value;
};

/// Asks for the reference's gradients by autograd instead of its outputs.
struct TorchGradients {
  std::vector<std::string> of;        // arguments and weights; "grad_NAME" are the results
  std::vector<std::string> upstream;  // arguments of the call that are gradients of outputs …
  std::vector<int64_t> outputs;       // … of these, counted in the order they are given back
};

struct TorchCall {
  TorchSource source;
  std::vector<TorchArgument> arguments;
  std::vector<TorchArgument> weights;  // models: parameters and buffers to set
  std::vector<std::string> written;    // arguments and buffers whose values afterwards are outputs
                                       // too, after what it returns
  bool written_only = false;           // what it returns does not count
  TorchGradients gradients;            // none asked for: empty
  std::string device = "cpu";          // or "cuda", "cuda:1"
  bool allow_tf32 = false;
  uint64_t seed = 0;  // of torch's generator, set before the file is loaded and before the call
};

}  // namespace kw::torch_worker
