// Search/replace blocks, the way models write small changes: what stands in the text, then what
// should stand there instead. Each must fit in exactly one place.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::evolve {

/// Whether a text holds such a block.
bool has_blocks(std::string_view text);

/// The text after all blocks of an answer, in their order. The input Error says which block does
/// not fit and why, in words for the model.
Result<std::string> apply_blocks(std::string text, std::string_view answer);

}  // namespace kw::evolve
