// The secret token that clients of the HTTP server must send.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::mcp {

/// 256 random bits as text.
Result<std::string> new_token();
/// Reads the token from a file that only its owner can read; creates the file if it does not exist.
/// An input Error when other users can read it, or when it is too short.
Result<std::string> token_of_file(const std::string& path);

}  // namespace kw::mcp
