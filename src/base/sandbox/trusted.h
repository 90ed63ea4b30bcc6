// Programs and libraries that we run or load: another user who could change one would choose what
// runs as this user.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::sandbox {

/// Environment Error when another user may change the file, or put one beside it, or put another
/// folder in place of one on its path. It names the place and the command that mends it. A file
/// that does not exist is not an Error.
Status check_trusted(const std::string& path);

}  // namespace kw::sandbox
