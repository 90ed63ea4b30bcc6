#include "stages/prompts.h"

#include <fmt/core.h>

#include <string_view>

#include "core/check.h"
#include "kPrompts.inc"
#include "llm/fenced.h"

namespace kw::stages {
namespace {

const char* prompt_text(const std::string& name) {
  for (const auto* file = kPrompts; file->name != nullptr; ++file) {
    if (file->name == name + ".txt") return file->text;
  }
  KW_CHECK(false, "there is such a prompt");
  return "";
}

const std::string& hole_text(const Placeholders& holes, std::string_view name) {
  for (const auto& [hole, text] : holes) {
    if (name == hole) return text;
  }
  KW_CHECK(false, "every hole of a prompt is filled");
  return holes.begin()->second;
}

}  // namespace

std::string prompt(const std::string& name, const Placeholders& holes) {
  const std::string_view text = prompt_text(name);
  std::string out;
  size_t at = 0;
  for (size_t open = text.find("{{"); open != std::string_view::npos; open = text.find("{{", at)) {
    const size_t close = text.find("}}", open);
    KW_CHECK(close != std::string_view::npos, "holes are closed");
    out += text.substr(at, open - at);
    out += hole_text(holes, text.substr(open + 2, close - open - 2));
    at = close + 2;
  }
  return out.append(text.substr(at));
}

std::string data(const std::string& word, const std::string& text) {
  return llm::fence(word, text);
}

std::string shortened(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  const size_t half = most / 2;
  size_t begin = text.rfind('\n', half);
  if (begin == std::string::npos) begin = half;
  size_t end = text.find('\n', text.size() - half);
  if (end == std::string::npos) end = text.size() - half;
  return fmt::format("{}\n[{} bytes left out]{}", text.substr(0, begin), end - begin,
                     text.substr(end));
}

}  // namespace kw::stages
