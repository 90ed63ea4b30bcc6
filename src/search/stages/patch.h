// Applies unified diffs as models write them: line numbers and counts are only hints, but the lines
// must match exactly.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::stages {

/// Whether a text looks like a unified diff: it has a hunk.
bool is_diff(std::string_view text);

/// The id of the diff's parent: the first word of its "--- " line, without "a/"; "" without such a
/// line.
std::string diff_parent(std::string_view diff);

/// The text after the diff. The Error says which hunk does not fit, the line it expects and the
/// line that is there.
Result<std::string> apply_diff(std::string_view text, std::string_view diff);

}  // namespace kw::stages
