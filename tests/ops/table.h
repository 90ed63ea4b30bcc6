// The op table: what it holds and the inputs it means. table.py reads the same files for PyTorch
// and makes the same numbers, bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "tensor/host_tensor.h"

namespace kw::ops {

struct InputSpec {
  std::string name, family;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
};

struct Case {
  std::string name, expression;
  std::string raises;  // what the refusal must say; "" when the case has a result
  bool refused = false;
  std::vector<InputSpec> inputs;
};

/// Every case of one table file.
Result<std::vector<Case>> parse_table(const std::string& text);
Result<tensor::HostTensor> make_input(const Case& one, const InputSpec& spec);

}  // namespace kw::ops
