// The secret that clients of the HTTP door must know.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::mcp {

/// 256 random bits as text.
Result<std::string> new_token();
/// The token in a file that only its owner can read; made when there is no such file. An input
/// Error when others can read it, or when it is too short to be a secret.
Result<std::string> token_of_file(const std::string& path);

}  // namespace kw::mcp
