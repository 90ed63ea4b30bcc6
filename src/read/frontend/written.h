// What of PyTorch and einops is written in Python (python/library) and evaluated like a reference,
// because it is made of other functions and modules.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "frontend/syntax.h"

namespace kw::frontend {

struct Written {
  const char* name;  // as references know it: "torch.nn.LSTM", "F.grid_sample"
  const char* file;  // of python/library
  const char* word;  // its name there
};

/// Null when there is none of that name.
const Written* find_written(std::string_view name);
std::vector<std::string> written_names();
/// Parsed once: every trace of a task needs it again.
Result<std::shared_ptr<const Source>> written_source(const std::string& file);

}  // namespace kw::frontend
