// Splits bytes into lines of a limited length; the rest of a longer line is skipped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kw::mcp {

class LineReader {
 public:
  explicit LineReader(size_t longest) : longest_(longest) {}

  struct Line {
    std::string text;
    bool too_long = false;  // `text` is empty then
  };
  /// The lines that these bytes complete, without line ends; empty lines are left out.
  std::vector<Line> add(std::string_view bytes);
  /// The rest, when no more bytes come.
  std::vector<Line> finish();

 private:
  void complete(std::vector<Line>* lines);

  size_t longest_;
  std::string kept_;
  bool passing_ = false;  // skipping the rest of a line that is too long
};

}  // namespace kw::mcp
