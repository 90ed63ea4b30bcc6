// A tensor in host memory: dtype, shape, contiguous row-major bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/result.h"
#include "tensor/dtype.h"
#include "tensor/large.h"

namespace kw::tensor {

struct HostTensor {
  DType dtype = DType::Fp32;
  std::vector<int64_t> shape;
  Bytes data;
};

/// Product of the extents (1 for rank 0). Error when it overflows int64 or an extent is negative.
Result<int64_t> element_count(const std::vector<int64_t>& shape);

/// A zero-filled tensor. Error when the size overflows or there is too little memory.
Result<HostTensor> make_tensor(DType dtype, std::vector<int64_t> shape);

/// Reads one storage element as a double (fp4e2m1x2: the low value), or writes it rounded to
/// nearest even. int64 and uint64 lose precision beyond 2^53; compare bytes if that matters.
double get_element(const HostTensor& tensor, int64_t index);
void set_element(HostTensor& tensor, int64_t index, double value);

}  // namespace kw::tensor
