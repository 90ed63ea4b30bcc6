// A record lists its members once, in a function template beside it. Every form of the record
// follows from that list: JSON (json_writer.h, json_reader.h), bytes (bytes.h) and TOML that people
// write (toml_reader.h).
//
//   void fields(auto& v, Attempt& a) {
//     v("stage", a.stage)("attempt", a.number);
//     v("op", a.op, kOperatorWords);   // an enum, written as a word
//     v("us", a.us, Zero::Null);       // 0 is written as null
//     v("limit", computed(a.limit()));  // written, not read
//     v.group("frozen", [&](auto& g) { g("task", a.task_hash); });  // an object inside
//   }
//
// The keys are those of stored files, so a renamed member does not break old run folders. A type
// without fields() may have its own to_json(value) and bool from_json(json, value).
#pragma once

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

namespace kw {

/// What is written for a member that is zero, empty, false or not set.
enum class Zero { Null, Omit };

/// A negative number stands for an unknown one and is written as null.
struct NegativeIsNull {};
inline constexpr NegativeIsNull negative_is_null;

/// The member is written only if this holds. It is read in any case.
struct When {
  bool holds = true;
};

/// A reader that checks reports it when the member is missing or has another type.
struct Required {};
inline constexpr Required required;

/// The words of an enum, by its numbers.
using Words = std::span<const char* const>;

/// A value that is written but never read.
template <class T>
struct Computed {
  T value;
};
template <class T>
Computed<T> computed(T value) {
  return {std::move(value)};
}

template <class T>
inline constexpr bool is_computed = false;
template <class T>
inline constexpr bool is_computed<Computed<T>> = true;

template <class T>
inline constexpr bool is_words = std::is_convertible_v<const T&, Words>;

/// A record: its namespace, or that of the visitor, has a fields() for it.
template <class T, class V>
concept HasFields = std::is_class_v<T> && requires(V& v, T& record) {
  fields(v, record);
};

/// Lists the members of a constant record for a visitor that does not change them.
template <class V, class T>
void list_fields(V& v, const T& record) {
  fields(v, const_cast<T&>(record));
}

}  // namespace kw
