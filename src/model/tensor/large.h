// An array of numbers that may have gigabytes. New elements are zero without being written, so the
// threads that fill a large array touch its pages first. Otherwise like std::vector, for trivial
// types only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace kw::tensor {

/// Zeroed memory; large blocks come from the system page by page. Throws std::bad_alloc.
void* take_zeroed(size_t bytes);
void give_back(void* block, size_t bytes) noexcept;

template <class T>
class Large {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Large() = default;
  explicit Large(size_t size) { resize(size); }
  Large(size_t size, T value) { assign(size, value); }
  Large(std::initializer_list<T> values) : Large(values.begin(), values.end()) {}
  Large(const std::vector<T>& values) : Large(values.begin(), values.end()) {}  // NOLINT
  template <std::forward_iterator It>
  Large(It first, It last) {
    assign(first, last);
  }
  Large(const Large& other) : Large(other.begin(), other.end()) {}
  Large(Large&& other) noexcept { swap(other); }
  Large& operator=(const Large& other) {
    if (this != &other) Large(other).swap(*this);
    return *this;
  }
  Large& operator=(Large&& other) noexcept {
    Large(std::move(other)).swap(*this);
    return *this;
  }
  ~Large() {
    if (data_ != nullptr) give_back(data_, capacity_ * sizeof(T));
  }

  /// The same bytes as elements of another type, without a copy. The size must be a whole number of
  /// elements.
  template <class From>
  static Large adopt(Large<From> other) {
    Large made;
    made.size_ = other.size_ * sizeof(From) / sizeof(T);
    if (other.capacity_ * sizeof(From) % sizeof(T) != 0) {
      made.size_ = 0;
      made.resize(other.size_ * sizeof(From) / sizeof(T));
      if (made.size_ > 0) std::memcpy(made.data_, other.data_, made.size_ * sizeof(T));
      return made;
    }
    made.capacity_ = std::exchange(other.capacity_, 0) * sizeof(From) / sizeof(T);
    made.data_ = reinterpret_cast<T*>(std::exchange(other.data_, nullptr));
    return made;
  }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void clear() { Large().swap(*this); }  // frees the memory
  void resize(size_t size) {
    if (size > capacity_) {
      if (size > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
      Large grown;
      grown.data_ = static_cast<T*>(take_zeroed(size * sizeof(T)));
      grown.capacity_ = size;
      if (size_ > 0) std::memcpy(grown.data_, data_, size_ * sizeof(T));
      grown.size_ = size_;
      swap(grown);
    } else if (size > size_) {
      std::memset(static_cast<void*>(data_ + size_), 0, (size - size_) * sizeof(T));
    }
    size_ = size;
  }
  /// Like resize, but the contents of all elements are unspecified.
  void remake(size_t size) {
    if (size > capacity_) Large(size).swap(*this);
    size_ = size;
  }
  void assign(size_t size, T value) {
    remake(size);
    std::fill(begin(), end(), value);
  }
  template <std::forward_iterator It>
  void assign(It first, It last) {
    remake(static_cast<size_t>(std::distance(first, last)));
    std::copy(first, last, begin());
  }
  void swap(Large& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  friend bool operator==(const Large& a, const Large& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  template <class>
  friend class Large;
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

using Bytes = Large<std::byte>;

}  // namespace kw::tensor
