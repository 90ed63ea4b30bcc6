// KW_CHECK: what must hold, or kernelwright is wrong. Active in every build type; throws kw::Bug, which is caught
// at the end of a job and in main. Never triggered by what a user typed or a candidate did.
#pragma once

#include <stdexcept>
#include <string>

namespace kw {

class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_bug(const char* file, int line, const char* condition, const std::string& why);

#define KW_CHECK(condition, why)                                           \
  do {                                                                     \
    if (!(condition)) ::kw::throw_bug(__FILE__, __LINE__, #condition, why); \
  } while (false)

}  // namespace kw
