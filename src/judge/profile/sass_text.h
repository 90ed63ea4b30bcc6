// Shows the counts of machine code, and the differences of two kernels, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "profile/sass.h"
#include "profile/sass_verdict.h"

namespace kw::profile {

/// The counts of all functions together.
SassFacts total_facts(const std::vector<SassFunction>& functions);

/// "120 instructions; global loads 4 x 16 bytes, stores 2 x 8 bytes; 2 barriers; 1 loop": one line.
/// Zero counts are left out, except spills.
std::string facts_line(const SassFacts& facts);
/// The same in a few lines with the most frequent opcodes. Each line is indented.
std::string facts_text(const SassFacts& facts, const std::string& indent);
/// The differences, one line each ("global loads of 16 bytes: 0 -> 4"); empty when there are none.
std::vector<std::string> fact_changes(const SassFacts& before, const SassFacts& after);
/// The verdict and each check of the signature.
std::string verdict_text(const std::string& method, const SassVerdict& verdict);

Json to_json(const SassFacts& facts);
Json to_json(const SassVerdict& verdict);

}  // namespace kw::profile
