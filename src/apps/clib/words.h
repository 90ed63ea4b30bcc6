// A command's options as JSON, turned into the words a person would have typed. What the command
// line understands, every caller of the library can say.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/command.h"

namespace kw::library {

/// The words behind the command's name. Input Errors: not an object, a value that is neither text,
/// number nor a list of them.
Result<std::vector<std::string>> words_of(const cli::Command& command, const Json& options);

}  // namespace kw::library
