#include "core/result.h"

namespace kw {

Error Error::context(const std::string& doing) && { return {blame, doing + ": " + message}; }

Error input_error(std::string message) { return {Blame::Input, std::move(message)}; }
Error environment_error(std::string message) { return {Blame::Environment, std::move(message)}; }

const char* blame_name(Blame blame) {
  switch (blame) {
    case Blame::Input:
      return "input";
    case Blame::Environment:
      return "environment";
    case Blame::Bug:
      return "bug";
  }
  return "bug";
}

}  // namespace kw
