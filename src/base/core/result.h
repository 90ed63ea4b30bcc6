// A value or an Error, and the one type for errors of kernelwright itself. A failing candidate is
// not an Error: it is an ordinary outcome (record/).
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <variant>

namespace kw {

/// Who must act so that the error does not happen again.
enum class Blame { Input, Environment, Bug };

struct Error {
  Blame blame = Blame::Bug;
  std::string message;  // outermost first: "reading task.cu: line 3: unknown dtype 'fp17'"

  /// The same error with the failed action written in front.
  Error context(const std::string& doing) &&;
};

/// The user typed, wrote or named something that kernelwright cannot use.
Error input_error(std::string message);
/// The machine lacks or refuses something: a tool, memory, a device, a permission.
Error environment_error(std::string message);
/// The same with a message in fmt's format: input_error("unknown dtype '{}'", name).
template <typename First, typename... More>
Error input_error(fmt::format_string<First, More...> message, First&& first, More&&... more) {
  return input_error(fmt::format(message, std::forward<First>(first), std::forward<More>(more)...));
}
template <typename First, typename... More>
Error environment_error(fmt::format_string<First, More...> message, First&& first, More&&... more) {
  return environment_error(
      fmt::format(message, std::forward<First>(first), std::forward<More>(more)...));
}

/// "input", "environment" or "bug".
const char* blame_name(Blame blame);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return v_.index() == 0; }
  bool has_value() const { return v_.index() == 0; }
  const T& operator*() const& { return std::get<0>(v_); }
  T& operator*() & { return std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  T&& value() && { return std::get<0>(std::move(v_)); }
  const Error& error() const& { return std::get<1>(v_); }
  Error&& error() && { return std::get<1>(std::move(v_)); }

 private:
  std::variant<T, Error> v_;
};

/// The value of an operation that returns only success.
struct Done {};
using Status = Result<Done>;

/// Evaluates to the value of `expr`, or returns its Error from the enclosing function.
/// Use it at most once per statement.
#define KW_TRY(expr)                                             \
  __extension__({                                                \
    auto kw_try_result = (expr);                                 \
    if (!kw_try_result) return std::move(kw_try_result).error(); \
    std::move(kw_try_result).value();                            \
  })

}  // namespace kw
