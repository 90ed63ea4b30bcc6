// Bytes become lines, and no line becomes longer than it may: the rest of it is passed over.
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
  /// The lines that these bytes complete, without their ends; empty ones are left out.
  std::vector<Line> add(std::string_view bytes);
  /// What is left when no more bytes come.
  std::vector<Line> finish();

 private:
  void complete(std::vector<Line>* lines);

  size_t longest_;
  std::string kept_;
  bool passing_ = false;  // over the rest of a line that is too long
};

}  // namespace kw::mcp
