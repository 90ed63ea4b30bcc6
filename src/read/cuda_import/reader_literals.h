// Numbers in host code. Internal.
#pragma once

#include "cuda_import/host_value.h"

namespace kw::cuda_import {

/// The number of a token with the type C++ gives it.
HostValue literal(const cuda_source::Token& token);

}  // namespace kw::cuda_import
