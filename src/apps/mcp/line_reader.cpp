#include "mcp/line_reader.h"

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace kw::mcp {

void LineReader::complete(std::vector<Line>* lines) {
  if (passing_) {
    lines->push_back({"", true});
  } else if (!trim(kept_).empty()) {
    lines->push_back({std::exchange(kept_, {}), false});
  }
  kept_.clear();
  passing_ = false;
}

std::vector<LineReader::Line> LineReader::add(std::string_view bytes) {
  std::vector<Line> lines;
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    if (!passing_ && kept_.size() + end > longest_) {
      passing_ = true;
      kept_.clear();
      kept_.shrink_to_fit();
    }
    if (!passing_) kept_.append(bytes.substr(0, end));
    if (end < bytes.size()) complete(&lines);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return lines;
}

std::vector<LineReader::Line> LineReader::finish() {
  std::vector<Line> lines;
  if (passing_ || !kept_.empty()) complete(&lines);
  return lines;
}

}  // namespace kw::mcp
