// Our own device headers for clang, carried inside the binary and written out when first needed.
#pragma once

#include <string>

#include "base/result.h"

namespace kw::compile {

/// A folder that holds them: in the cache folder under a name that follows from their content, so
/// versions do not meet; or, when nothing can be written there, in a temporary folder of this
/// process.
Result<std::string> device_header_folder();
/// Changes with the content of any of them.
std::string device_header_hash();

}  // namespace kw::compile
