// Finds the `//!` lines of a module. Used by the parser only.
#pragma once

#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"
#include "cuda_source/source_lexer.h"

namespace kw::kernel {

struct PlanLine {
  int number = 0;             // in the file, from 1
  std::string_view text;      // the whole physical line
  size_t begin = 0, end = 0;  // the text after `//!`, up to a trailing `//` comment
};

/// Comments that start with `//!` at the start of their line. Those in other places, or continued
/// with a backslash, are reported.
std::vector<PlanLine> find_plan_lines(std::string_view text, const cuda_source::SourceText& source,
                                      std::vector<cuda_source::Diagnostic>& diagnostics);

}  // namespace kw::kernel
