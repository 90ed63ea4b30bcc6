// A kernel module as a reviewer sees it: code and plan, without text that could address the reader.
// The verdict does not depend on this: reviewers cannot accept a module.
#pragma once

#include <string>

namespace kw::review {

/// Removes comments, text of string literals, code that the preprocessor removes, unused macros,
/// free text of directives, and `method` lines. Names as long as sentences are replaced, equal
/// names by equal ones. Assembly keeps its instructions. Line numbers do not change.
std::string shown_module(const std::string& module);

/// Each line with its number, which the reviewers' reasons refer to. Empty lines are left out.
std::string numbered(const std::string& text);

}  // namespace kw::review
