// How inputs of the op table are drawn: whole numbers scaled by powers of two, exact in their
// dtype, so that two languages make the same bits. Keep in step with table.py.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "tensor/host_tensor.h"

namespace kw::ops {

uint64_t seed_of(std::string_view text);
Status fill(tensor::HostTensor& tensor, const std::string& family, uint64_t seed);

}  // namespace kw::ops
