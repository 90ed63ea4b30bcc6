// Writes a record as bytes and reads it back, from its list of members (fields.h): numbers little
// endian, lengths before content. A record that exists only as bytes needs no keys:
// v(a.first, a.second). `Format` is a type of the module that owns the bytes. It tells whether
// numbers take their own size or eight bytes (kWide), and fields() is also looked up beside it. So
// a module can list the members of another module's record.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fields.h"

namespace kw {

/// An enum whose reader fails above `last`.
template <class E>
struct UpTo {
  E& value;
  E last;
};
template <class E>
UpTo<E> up_to(E& value, E last) {
  return {value, last};
}

static_assert(std::endian::native == std::endian::little);

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// How a number of type T is stored. Enums and flags take one byte, if not wide.
template <class Format, class T>
using Stored = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<
        Format::kWide, uint64_t,
        std::conditional_t<std::is_enum_v<T> || std::is_same_v<T, bool>, uint8_t, T>>>;

template <class Format>
class BytesWriter {
 public:
  template <class T, class... Options>
  BytesWriter& operator()(const char* /*key*/, T& member, const Options&...) {
    put(member);
    return *this;
  }
  template <class... T>
  void operator()(T&&... members) {
    (put(members), ...);
  }
  std::string take() && { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (is_number<T>) {
      const auto stored = static_cast<Stored<Format, T>>(value);
      bytes_.append(reinterpret_cast<const char*>(&stored), sizeof(stored));
    } else {
      list_fields(*this, value);
    }
  }
  template <class E>
  void put(const UpTo<E>& choice) {
    put(choice.value);
  }
  void put(const std::string& value) {
    put(uint64_t{value.size()});
    bytes_ += value;
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(uint64_t{values.size()});
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }

  std::string bytes_;
};

/// Fails on an impossible length or past the end, and then stays failed.
template <class Format>
class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes) : rest_(bytes) {}

  template <class T, class... Options>
  BytesReader& operator()(const char* /*key*/, T& member, const Options&...) {
    get(member);
    return *this;
  }
  template <class... T>
  void operator()(T&&... members) {
    (get(members), ...);
  }
  /// True when everything was valid and all bytes were read.
  bool finished() const { return ok_ && rest_.empty(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (is_number<T>) {
      Stored<Format, T> stored{};
      if (rest_.size() < sizeof(stored)) return fail();
      std::memcpy(&stored, rest_.data(), sizeof(stored));
      rest_.remove_prefix(sizeof(stored));
      value = static_cast<T>(stored);
    } else {
      fields(*this, value);
    }
  }
  template <class E>
  void get(UpTo<E>& choice) {
    get(choice.value);
    if (choice.value <= choice.last) return;
    choice.value = E{};
    fail();
  }
  void get(std::string& value) {
    const uint64_t size = length(1);
    value.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  template <class T>
  void get(std::vector<T>& values) {
    // An item takes at least one byte, so a wrong count cannot cause a large allocation.
    const uint64_t count = length(is_number<T> ? sizeof(Stored<Format, T>) : 1);
    values.clear();
    for (uint64_t i = 0; i < count && ok_; ++i) get(values.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool set = false;
    get(set);
    value.reset();
    if (set && ok_) get(value.emplace());
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }
  uint64_t length(uint64_t item_bytes) {
    uint64_t count = 0;
    get(count);
    if (count <= rest_.size() / item_bytes) return count;
    fail();
    return 0;
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

template <class Format, class T>
std::string record_bytes(const T& record) {
  BytesWriter<Format> writer;
  list_fields(writer, record);
  return std::move(writer).take();
}

/// False when the bytes are not exactly one such record; `record` is then unspecified.
template <class Format, class T>
bool read_bytes(std::string_view bytes, T& record) {
  BytesReader<Format> reader(bytes);
  fields(reader, record);
  return reader.finished();
}

}  // namespace kw
