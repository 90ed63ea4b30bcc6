#include "core/json_reader.h"

#include <fmt/core.h>

namespace kw {

void JsonReader::note(std::string_view key) {
  if (!problem_.empty()) return;
  const Json& json = json_[key];
  problem_ = json.is_null() ? fmt::format("'{}' is missing", key)
                            : fmt::format("'{}' cannot be {}", key, json.dump());
}

}  // namespace kw
