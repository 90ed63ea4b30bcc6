// Headers of our own for compilers that lack them, carried inside the binary and written out when
// first needed.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace kw::compile {

enum class HeaderSet : uint8_t {
  Clang,  // device/: all of CUDA that clang needs
  Nvrtc,  // device_nvrtc/: the standard library's headers, which NVRTC does not have
};

/// A folder that holds them: in the cache folder under a name that follows from their content, so
/// versions do not meet; or, when nothing can be written there, in a temporary folder of this
/// process.
Result<std::string> own_header_folder(HeaderSet set);
/// Changes with the content of any of them.
std::string own_header_hash(HeaderSet set);

}  // namespace kw::compile
