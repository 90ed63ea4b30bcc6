// The one wording of a failed file operation. Internal to os.
#pragma once

#include <string>

#include "base/result.h"

namespace kw::os {

/// "reading x.cu: No such file or directory"; permission and space are the machine's business, a
/// wrong name is the user's.
Error file_error(const std::string& doing, const std::string& path, int code);

}  // namespace kw::os
