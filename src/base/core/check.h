// KW_CHECK states a condition that only a defect of kernelwright can break. It is active in every
// build type and throws kw::Bug. The end of a job and main catch it. User input and candidates
// never trigger it.
#pragma once

#include <stdexcept>
#include <string>

namespace kw {

class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_bug(const char* file, int line, const char* condition,
                            const std::string& why);

#define KW_CHECK(condition, why)                                            \
  do {                                                                      \
    if (!(condition)) ::kw::throw_bug(__FILE__, __LINE__, #condition, why); \
  } while (false)

}  // namespace kw
