// Writes indented CUDA source; blocks close their braces themselves. It knows layout, not meaning.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
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
  /// The same with a text in fmt's format.
  template <typename First, typename... More>
  void line(fmt::format_string<First, More...> text, First&& first, More&&... more) {
    line(fmt::format(text, std::forward<First>(first), std::forward<More>(more)...));
  }
  /// Appends text that already has its layout.
  void raw(std::string_view text) { text_ += text; }
  void lines(const std::vector<std::string>& all);
  /// Writes "head {" and indents until the Block is destroyed.
  [[nodiscard]] Block block(std::string_view head) { return block_then(head, ""); }
  template <typename First, typename... More>
  [[nodiscard]] Block block(fmt::format_string<First, More...> head, First&& first,
                            More&&... more) {
    return block(fmt::format(head, std::forward<First>(first), std::forward<More>(more)...));
  }
  /// The same for a loop that the compiler unrolls.
  [[nodiscard]] Block unrolled(std::string_view head) {
    line("#pragma unroll");
    return block(head);
  }
  template <typename First, typename... More>
  [[nodiscard]] Block unrolled(fmt::format_string<First, More...> head, First&& first,
                               More&&... more) {
    return unrolled(fmt::format(head, std::forward<First>(first), std::forward<More>(more)...));
  }
  /// The same with `end` behind the closing brace.
  [[nodiscard]] Block block_then(std::string_view head, std::string_view end);
  /// The same for a type or a variable, which ends with a semicolon.
  [[nodiscard]] Block definition(std::string_view head) { return block_then(head, ";"); }
  /// Writes a comment, wrapped to the line length.
  void comment(std::string_view text);
  const std::string& text() const { return text_; }

 private:
  void close(std::string_view end);

  int indent_;
  std::string text_;
};

}  // namespace kw::generate
