// The reference files of this folder and the options they ask for.
#pragma once

#include <string>
#include <vector>

#include "task_formats/load.h"

namespace kw::task_formats {

/// Names without ending of the .py files in a subfolder, sorted.
std::vector<std::string> cases_in(const std::string& folder);
std::string case_path(const std::string& folder, const std::string& file);
/// What the first line says: "# options: --input x:fp32[N] --dims N=8 --function f".
LoadOptions options_of(const std::string& text);

}  // namespace kw::task_formats
