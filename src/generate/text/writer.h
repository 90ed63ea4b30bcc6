// Writes indented CUDA source; blocks close their braces themselves. It knows layout, not meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::generate {

class CudaWriter {
 public:
  /// Writes the closing brace in its destructor.
  class Block {
   public:
    Block(CudaWriter& writer, std::string_view end) : writer_(&writer), end_(end) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { writer_->close(end_); }

   private:
    CudaWriter* writer_;
    std::string end_;
  };

  explicit CudaWriter(int indent = 0) : indent_(indent) {}

  /// Writes one line; long lines are broken at commas and operators. Empty text gives a blank line.
  void line(std::string_view text);
  /// Appends text that already has its layout.
  void raw(std::string_view text) { text_ += text; }
  void lines(const std::vector<std::string>& all);
  /// Writes "head {" and indents until the Block is destroyed; `end` follows the closing brace.
  [[nodiscard]] Block block(std::string_view head, std::string_view end = "");
  /// Writes a comment, wrapped to the line length.
  void comment(std::string_view text);
  const std::string& text() const { return text_; }

 private:
  void close(std::string_view end);

  int indent_;
  std::string text_;
};

}  // namespace kw::generate
