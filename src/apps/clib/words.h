// A command's options as JSON, turned into the words a person would have typed. What the command
// line understands, every caller of the library can say.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "options/command.h"

namespace kw::clib {

/// The words behind the command's name. Input Errors: not an object, a value that is neither text,
/// number nor a list of them.
Result<std::vector<std::string>> words_of(const options::Command& command, const Json& options);

}  // namespace kw::clib
