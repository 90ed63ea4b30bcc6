// Turns a command's options in JSON into command-line words, so that callers of the library can use
// every option.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "options/command_list.h"

namespace kw::clib {

/// The words after the command's name. Input Errors: not an object, or a value that is not text, a
/// number or a list of them.
Result<std::vector<std::string>> command_line_of(const options::Command& command,
                                                 const Json& options);

}  // namespace kw::clib
