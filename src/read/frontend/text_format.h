// Python's three ways to format values as text. References use such text as attribute names, so it
// must be exactly Python's.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "frontend/value.h"

namespace kw::frontend {

/// format(value, spec): "[[fill]align][sign][0][width][,][.precision][type]".
Result<std::string> formatted(const Value& value, std::string_view spec);
/// "layer%d" % 3, with a tuple for several values.
Result<std::string> percent_format(std::string_view text, const Value& values);
/// "layer{}".format(3), with positions, names, and specs after a colon.
Result<std::string> brace_format(std::string_view text, const std::vector<Value>& positional,
                                 const std::vector<std::pair<std::string, Value>>& keywords);

}  // namespace kw::frontend
