// Proposals for a command line that is not finished, from the rows that parsing uses.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options/command_list.h"

namespace kw::options {

/// What may be at the end of a command line.
struct Completion {
  enum class From : uint8_t { Words, Files, Folders };
  From from = From::Words;
  std::vector<std::pair<std::string, std::string>> words;  // with what they mean; "" = no text
};

/// The shells that completion_script() knows.
std::vector<std::string> completion_shells();
/// The text that lets a shell ask complete_words(). "" for an unknown shell.
std::string completion_script(const std::string& shell);

/// `words` follow the program's name; the last one is unfinished, or "".
Completion complete_words(std::vector<std::string> words);

}  // namespace kw::options
