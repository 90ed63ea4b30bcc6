// Indented CUDA source that cannot lose a brace: blocks close themselves. Knows layout, not
// meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::generate {

class CudaWriter {
 public:
  /// Closes its brace when it goes.
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

  /// One line; long ones are broken at commas and operators. Empty: a blank line.
  void line(std::string_view text);
  /// Text that is laid out already.
  void raw(std::string_view text) { text_ += text; }
  void lines(const std::vector<std::string>& all);
  /// Writes "head {" and indents until the Block goes; `end` follows the closing brace.
  [[nodiscard]] Block block(std::string_view head, std::string_view end = "");
  /// A one-line comment, wrapped.
  void comment(std::string_view text);
  const std::string& text() const { return text_; }

 private:
  void close(std::string_view end);

  int indent_;
  std::string text_;
};

}  // namespace kw::generate
