// Our own headers for compilers that lack them. They are stored inside the binary and written to
// disk at first use.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace kw::compile {

enum class HeaderSet : uint8_t {
  Clang,  // device/: all of CUDA that clang needs
  Nvrtc,  // device_nvrtc/: the standard library's headers, which NVRTC does not have
};

/// The folder that holds them. It is in the cache folder and named by their content, so that
/// versions do not mix. If that cannot be written, it is a temporary folder of this process.
Result<std::string> own_header_folder(HeaderSet set);
/// Changes with the content of any header.
std::string own_header_hash(HeaderSet set);

}  // namespace kw::compile
