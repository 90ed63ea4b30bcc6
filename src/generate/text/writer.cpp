#include "text/writer.h"

namespace kw::generate {

namespace {

constexpr size_t kColumns = 100;

/// The best place to break a long line: after the last comma or operator that fits, with as few
/// open parentheses as possible.
size_t break_at(std::string_view text, size_t limit) {
  int depth = 0, best_depth = 1 << 20;
  size_t best = 0;
  for (size_t i = 0; i < text.size() && i < limit; ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '<') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '>') --depth;
    if (text[i] != ' ' || i < 24) continue;
    const char before = text[i - 1];
    const bool breaks = std::string_view(",;=+-*/%?:&|").find(before) != std::string_view::npos;
    if (!breaks) continue;
    const bool factor = std::string_view("*/%").find(before) != std::string_view::npos;
    const int tightness = 2 * depth + (factor ? 1 : 0);
    if (tightness <= best_depth) {
      best_depth = tightness;
      best = i;
    }
  }
  return best;
}

}  // namespace

void CudaWriter::line(std::string_view text) {
  if (text.empty()) {
    text_ += '\n';
    return;
  }
  size_t indent = static_cast<size_t>(indent_) * 2;
  while (indent + text.size() > kColumns) {
    const size_t at = break_at(text, kColumns - indent);
    if (at == 0) break;
    text_.append(indent, ' ');
    text_ += text.substr(0, at);
    text_ += '\n';
    text.remove_prefix(at + 1);
    indent = static_cast<size_t>(indent_) * 2 + 4;
  }
  text_.append(indent, ' ');
  text_ += text;
  text_ += '\n';
}

void CudaWriter::lines(const std::vector<std::string>& all) {
  for (const std::string& one : all) line(one);
}

CudaWriter::Block CudaWriter::block_then(std::string_view head, std::string_view end) {
  line("{} {{", head);
  ++indent_;
  return Block(*this, end);
}

void CudaWriter::close(std::string_view end) {
  --indent_;
  line("}}{}", end);
}

void CudaWriter::comment(std::string_view text) {
  const size_t room = kColumns - static_cast<size_t>(indent_) * 2 - 3;
  while (!text.empty()) {
    size_t end = text.size();
    if (end > room) {
      end = text.rfind(' ', room);
      if (end == std::string_view::npos || end == 0) end = text.find(' ');
      if (end == std::string_view::npos) end = text.size();
    }
    line("// " + std::string(text.substr(0, end)));
    text.remove_prefix(end < text.size() ? end + 1 : end);
  }
}

}  // namespace kw::generate
