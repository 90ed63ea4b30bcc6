// A kernel module as someone who judges it by reading may see it: code and plan, and nothing that
// could talk to the reader. Not a safeguard of the verdict: readers never accept anything.
#pragma once

#include <string>

namespace kw::review {

/// Comments, texts of string literals, code that the preprocessor throws away, macros nobody uses,
/// free text of directives and `method` lines are blanked; names long enough to be sentences are
/// replaced, the same by the same. Assembly keeps its instructions. Every line stays where it was.
std::string shown_module(const std::string& module);

/// Each line behind its number, as reasons refer to it.
std::string numbered(const std::string& text);

}  // namespace kw::review
