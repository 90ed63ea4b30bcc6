// The known optimisation methods, as data: catalog/methods.txt, compiled in. Says what may be
// claimed, not how to do it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw::catalog {

struct Method {
  std::string id;     // "memory.vectorized_access"
  std::string axis;   // "compute", "memory" or "latency"
  std::string title;  // one line
};

/// All methods in the order of the file.
std::span<const Method> methods();
/// The method of that id, or nullptr.
const Method* find(std::string_view id);
/// All ids, for suggestions.
std::vector<std::string> ids();

}  // namespace kw::catalog
