// The texts models are given: files of prompts/, compiled in, with named holes. Stable parts come
// first so that providers can keep them.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace kw::stages {

using Holes = std::initializer_list<std::pair<const char*, std::string>>;

/// The text of prompts/NAME.txt with every {{hole}} filled. What is filled in is not read again, so
/// braces in it mean nothing.
std::string prompt(const std::string& name, const Holes& holes = {});

/// Text that somebody else wrote, fenced so that it cannot end the fence, under a word that says
/// what it is.
std::string data(const std::string& word, const std::string& text);

/// The beginning and the end of a long text, with what is left out said between them.
std::string shortened(const std::string& text, size_t most);

}  // namespace kw::stages
