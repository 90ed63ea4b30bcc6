#include "kernel/kernel_name.h"

#include "kernel/cursor.h"

namespace kw::kernel {

namespace {

struct Word {
  size_t begin, end;
};

// Unqualified identifiers after the first '<'. A number such as 0x10u is skipped as one piece.
std::vector<Word> argument_words(std::string_view kernel) {
  std::vector<Word> words;
  for (size_t i = kernel.find('<'); i < kernel.size();) {
    if (!is_identifier_part(kernel[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < kernel.size() && is_identifier_part(kernel[i])) ++i;
    const bool qualified = kernel[begin - 1] == ':' || kernel[begin - 1] == '.';
    const bool qualifier = kernel.substr(i).starts_with("::");
    if (is_identifier_start(kernel[begin]) && !qualified && !qualifier) words.push_back({begin, i});
  }
  return words;
}

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += c;
  }
  return out;
}

}  // namespace

std::string base_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('<'));
  const size_t colon = kernel.rfind(':');
  return std::string(colon == std::string_view::npos ? kernel : kernel.substr(colon + 1));
}

bool same_kernel(std::string_view asked, std::string_view launched) {
  if (without_blanks(asked) == without_blanks(launched)) return true;
  if (asked.find('<') != std::string_view::npos) return false;
  return without_blanks(asked) == without_blanks(launched.substr(0, launched.find('<')));
}

std::vector<std::string> template_argument_names(std::string_view kernel) {
  std::vector<std::string> names;
  for (const Word& word : argument_words(kernel)) {
    names.emplace_back(kernel.substr(word.begin, word.end - word.begin));
  }
  return names;
}

std::string substitute(std::string_view kernel,
                       const std::function<std::optional<std::string>(const std::string&)>& value) {
  std::string out;
  size_t copied = 0;
  for (const Word& word : argument_words(kernel)) {
    const auto replacement = value(std::string(kernel.substr(word.begin, word.end - word.begin)));
    if (!replacement) continue;
    out += kernel.substr(copied, word.begin - copied);
    out += *replacement;
    copied = word.end;
  }
  out += kernel.substr(copied);
  return out;
}

}  // namespace kw::kernel
