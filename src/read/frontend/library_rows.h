// The parts of PyTorch, einops and Python's standard library that are written in Python
// (python/library). They are evaluated like a reference, because they consist of other functions
// and modules.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "frontend/syntax.h"

namespace kw::frontend {

struct LibraryRow {
  const char* name;  // the name in references: "torch.nn.LSTM", "F.grid_sample"
  const char* file;  // in python/library
  const char* word;  // its name in that file
};

/// The row of a name; null for an unknown name.
const LibraryRow* find_library_row(std::string_view name);
std::vector<std::string> written_names();
/// Parsed once and kept, because every trace of a task needs it.
Result<std::shared_ptr<const Source>> written_source(const std::string& file);

}  // namespace kw::frontend
