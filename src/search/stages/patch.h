// A unified diff applied to a text, the way models write diffs: line numbers and counts are taken
// as hints, the lines themselves must match exactly.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::stages {

/// Whether a text looks like a unified diff: it has a hunk.
bool is_diff(std::string_view text);

/// The id a diff says it is against: the first word of its "--- " line, without "a/"; "" when it
/// has none.
std::string diff_parent(std::string_view diff);

/// The text after the diff. The Error says which hunk does not fit, which line it expected and what
/// stands there instead.
Result<std::string> apply_diff(std::string_view text, std::string_view diff);

}  // namespace kw::stages
