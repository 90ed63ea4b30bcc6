// Parses a text into a kernel module. Reports all problems at once; guesses nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"
#include "kernel/module.h"

namespace kw::kernel {

/// Larger texts are refused.
inline constexpr size_t kMaxModuleBytes = size_t{1} << 20;

struct ParseOutcome {
  std::optional<Module> module;  // set only when there is no diagnostic
  std::vector<cuda_source::Diagnostic> diagnostics;
};

/// `file_name` is used only in messages. Calls check_source() too.
ParseOutcome parse(std::string_view text, const std::string& file_name);

}  // namespace kw::kernel
