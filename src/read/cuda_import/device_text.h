// Extracts the device code of a foreign file. Host functions, variables, macros and headers and C
// linkage are left out; other text is copied unchanged, except that "header" may become <header>.
// Internal.
#pragma once

#include <string>
#include <vector>

#include "cuda_import/source.h"
#include "cuda_source/diagnostics.h"

namespace kw::cuda_import {

struct DeviceText {
  std::string text;
  std::vector<int> lines;  // line of the foreign file, for each line of `text`
  std::vector<std::string> notes;
  std::vector<cuda_source::Diagnostic> problems;
};

/// A quoted header named after `launcher` only declares it and is left out.
DeviceText device_text(const HostSource& source, const std::string& launcher);

}  // namespace kw::cuda_import
