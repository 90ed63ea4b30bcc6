// The device's part of a foreign file, byte for byte: host functions, host variables, headers of
// the host and C linkage are left out, nothing else is touched. Internal.
#pragma once

#include <string>
#include <vector>

#include "cuda_import/source.h"
#include "cuda_source/diagnostics.h"

namespace kw::cuda_import {

struct DeviceText {
  std::string text;
  std::vector<int> lines;  // of the foreign file, for each line of `text`
  std::vector<std::string> notes;
  std::vector<cuda_source::Diagnostic> problems;
};

/// `launcher`: a header of that name in quotes only declares it, and goes.
DeviceText device_text(const Source& source, const std::string& launcher);

}  // namespace kw::cuda_import
