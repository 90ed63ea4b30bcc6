// The header of an .npy file is a Python dict literal, and the file may come from a stranger.
// Evaluating it with Python would run code. So a small parser accepts exactly strings, True, False
// and tuples of integers. Everything else is an Error that names the expected text and the offset.
// Rank and header size are limited, so that a false header cannot use up memory. The cost: a future
// header with other literals is refused.
#include <fmt/core.h>

#include "core/text.h"
#include "tensor/npy.h"

namespace kw::tensor {

namespace {

constexpr size_t kHeaderLimit = 1 << 20;
constexpr size_t kRankLimit = 64;  // the limit of NumPy

class Dict {
 public:
  explicit Dict(std::string_view text) : text_(text) {}

  Result<NpyHeader> parse() {
    if (!take('{')) return wrong("'{'");
    while (!take('}')) {
      const std::string key = KW_TRY(string());
      if (!take(':')) return wrong("':'");
      KW_TRY(member(key));
      if (!take(',')) {
        if (take('}')) break;
        return wrong("',' or '}'");
      }
    }
    skip_blanks();
    if (at_ != text_.size()) return wrong("the end of the header");
    if (!has_descr_ || !has_order_ || !has_shape_) {
      return input_error("malformed .npy header: no '{}'",
                         !has_descr_ ? "descr" : (!has_order_ ? "fortran_order" : "shape"));
    }
    return std::move(header_);
  }

 private:
  Status member(const std::string& key) {
    if (key == "descr") {
      has_descr_ = true;
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '[') {
        return input_error(
            "the array has a structured dtype (fields); save each field as its own array");
      }
      header_.descr = KW_TRY(string());
      return Done{};
    }
    if (key == "fortran_order") {
      has_order_ = true;
      header_.fortran_order = KW_TRY(boolean());
      return Done{};
    }
    if (key == "shape") {
      has_shape_ = true;
      header_.shape = KW_TRY(tuple());
      return Done{};
    }
    return input_error("malformed .npy header: unknown key '" + key + "'");
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Error wrong(const std::string& expected) {
    skip_blanks();
    const std::string found =
        at_ < text_.size() ? fmt::format("{:?}", text_.substr(at_, 12)) : "the end";
    return input_error("malformed .npy header: expected {} at offset {}, found {}", expected, at_,
                       found);
  }

  Result<std::string> string() {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return wrong("a string");
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return wrong("a string that ends");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  Result<bool> boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    return wrong("True or False");
  }

  Result<std::vector<int64_t>> tuple() {
    std::vector<int64_t> extents;
    if (!take('(')) return wrong("'('");
    while (!take(')')) {
      skip_blanks();
      size_t end = at_;
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
      const auto extent = parse_int(text_.substr(at_, end - at_));
      if (!extent) return wrong("an extent (a whole number of at most 63 bits)");
      at_ = end;
      take('L');  // Python 2 wrote long integers this way
      extents.push_back(*extent);
      if (extents.size() > kRankLimit) return input_error("more than {} dimensions", kRankLimit);
      if (!take(',')) {
        if (take(')')) break;
        return wrong("',' or ')'");
      }
    }
    return extents;
  }

  std::string_view text_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view bytes) {
  if (bytes.substr(0, 2) == "PK")
    return input_error("this is an .npz archive; unpack it and give one .npy file");
  if (bytes.substr(0, 6) != "\x93NUMPY")
    return input_error("not an .npy file (it does not begin with \\x93NUMPY)");
  if (bytes.size() < 10) return input_error("truncated .npy header");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return input_error(".npy version {} is unknown (1 to 3 are)", version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = 8 + length_bytes;
  if (bytes.size() < start) return input_error("truncated .npy header");
  uint64_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= uint64_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  }
  if (length > kHeaderLimit) return input_error("its header of {} bytes is too large", length);
  if (bytes.size() - start < length) return input_error("truncated .npy header");
  NpyHeader header = KW_TRY(Dict(bytes.substr(start, length)).parse());
  header.data_offset = start + length;
  return header;
}

}  // namespace kw::tensor
