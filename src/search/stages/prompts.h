// The prompts: files of prompts/, compiled in, with named placeholders. Stable parts come first so
// that providers can cache them.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace kw::stages {

using Placeholders = std::initializer_list<std::pair<const char*, std::string>>;

/// The text of prompts/NAME.txt with every {{hole}} replaced. The inserted texts are not scanned
/// for placeholders.
std::string prompt(const std::string& name, const Placeholders& holes = {});

/// Untrusted text in a fence that it cannot close, with `word` as the language of the fence.
std::string data(const std::string& word, const std::string& text);

/// The beginning and the end of a long text, with the number of omitted bytes between them.
std::string shortened(const std::string& text, size_t most);

}  // namespace kw::stages
