// The kernels that the device code defines, as far as its text shows. Internal.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cuda_source/source_lexer.h"

namespace kw::cuda_source {

struct SourceKernels {
  std::vector<std::string> names;     // of __global__ functions, in order
  std::set<std::string> identifiers;  // every identifier of the code
  bool made_by_macros = false;        // a #define contains __global__: names may be hidden
};

SourceKernels find_kernels(const SourceText& source);

}  // namespace kw::cuda_source
