// Converts values to bytes and back, for frames between the engine and its worker: little endian,
// lengths before content. The reader fails on an impossible length or past the end, and then stays
// failed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kw::gpu {

class ByteWriter {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    const auto at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void text(std::string_view value) {
    number<uint64_t>(value.size());
    bytes_.append(value);
  }
  template <typename T>
  void numbers(const std::vector<T>& values) {
    number<uint64_t>(values.size());
    for (const T& value : values) number(value);
  }
  template <typename T, typename Each>
  void list(const std::vector<T>& values, Each each) {
    number<uint64_t>(values.size());
    for (const T& value : values) each(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  static_assert(std::endian::native == std::endian::little);
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    if (rest_.size() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  bool flag() { return number<uint8_t>() != 0; }
  /// An enum stored as its number; fails above `last`.
  template <typename E>
  E choice(E last) {
    const auto value = number<std::underlying_type_t<E>>();
    if (value > static_cast<std::underlying_type_t<E>>(last)) fail();
    return ok_ ? static_cast<E>(value) : E{};
  }
  std::string text() {
    const uint64_t size = length(1);
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  template <typename T>
  std::vector<T> numbers() {
    std::vector<T> values(length(sizeof(T)));
    for (T& value : values) value = number<T>();
    return values;
  }
  /// `each()` reads one item of at least one byte.
  template <typename Each>
  auto list(Each each) {
    std::vector<decltype(each())> values;
    const uint64_t count = length(1);
    for (uint64_t i = 0; i < count && ok_; ++i) values.push_back(each());
    return values;
  }
  /// True when everything read so far was valid.
  bool ok() const { return ok_; }
  /// True when, besides, all bytes were read.
  bool finished() const { return ok_ && rest_.empty(); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  uint64_t length(uint64_t item_bytes) {
    const auto count = number<uint64_t>();
    if (count <= rest_.size() / item_bytes) return count;
    fail();
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace kw::gpu
