#include "core/check.h"

#include <cstring>

namespace kw {

void throw_bug(const char* file, int line, const char* condition, const std::string& why) {
  const char* name = std::strstr(file, "src/");
  throw Bug(std::string(name ? name : file) + ":" + std::to_string(line) + ": " + why + " (" +
            condition + ")");
}

}  // namespace kw
