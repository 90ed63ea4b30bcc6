// Summarises a tensor in a few numbers, as text for users and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "tensor/host_tensor.h"

namespace kw::binding {

struct TensorSummary {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
  int64_t values = 0;  // an fp4e2m1x2 element counts as two
  int64_t finite = 0;
  double min = 0, max = 0, mean = 0;  // of the finite values; 0 when there are none
  int64_t nans = 0, infinities = 0;
  std::string hash;  // of the bytes
};

TensorSummary summarise(const std::string& name, const tensor::HostTensor& tensor);
Json to_json(const TensorSummary& summary);

}  // namespace kw::binding
