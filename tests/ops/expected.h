// What PyTorch gave for a case, as run_torch.py writes it: all elements, or a few spread evenly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "tensor/host_tensor.h"

namespace kw::ops {

struct ExpectedOutput {
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
  std::vector<uint64_t> words;  // bits of an element each
};

struct Expected {
  std::string raises;  // PyTorch's message when it refused
  bool refused = false;
  std::vector<ExpectedOutput> outputs;
};

Result<std::map<std::string, Expected>> parse_expected(const std::string& text);

/// Overwrites the elements of `tensor` that `output` has.
Status overlay(const ExpectedOutput& output, tensor::HostTensor& tensor);

}  // namespace kw::ops
