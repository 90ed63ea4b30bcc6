// What in a PTX text leaves the bits of results open, so that two devices may differ although both
// are right. Not for orders that depend on the run, like those of atomics.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kw::corpus {

/// "ex2.approx", "mul+add contraction", "wmma order"; empty for a text that does not parse.
std::set<std::string> open_bits(std::string_view ptx);

}  // namespace kw::corpus
