// What machine code consists of, and how two kernels' differs, as text and as data.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "profile/sass.h"
#include "profile/sass_verdict.h"

namespace kw::profile {

/// Of all functions together.
SassFacts total_facts(const std::vector<SassFunction>& functions);

/// "120 instructions; global loads 4 x 16 bytes, stores 2 x 8 bytes; 2 barriers; 1 loop": one line,
/// what is not there left out but for spills, which are always told.
std::string facts_line(const SassFacts& facts);
/// The same in a few lines with the most frequent opcodes, each line indented.
std::string facts_text(const SassFacts& facts, const std::string& indent);
/// What differs, one line per thing ("global loads of 16 bytes: 0 -> 4"); empty: nothing does.
std::vector<std::string> fact_changes(const SassFacts& before, const SassFacts& after);
/// The verdict and each of its sightings.
std::string verdict_text(const std::string& method, const SassVerdict& verdict);

Json to_json(const SassFacts& facts);
Json to_json(const SassVerdict& verdict);

}  // namespace kw::profile
