// Search/replace blocks, as models write small changes: the lines to find, then their replacement.
// Each block must match in exactly one place.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::evolve {

/// Whether a text has such a block.
bool has_blocks(std::string_view text);

/// The text after all blocks of an answer, applied in order. The input Error tells the model which
/// block does not fit and why.
Result<std::string> apply_blocks(std::string text, std::string_view answer);

}  // namespace kw::evolve
