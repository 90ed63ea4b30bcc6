// The catalogue's files (TOML) as tables. Strict: everything that is wrong is said at once, with
// its place.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/metric.h"
#include "core/result.h"

namespace kw::catalog {

struct File {
  std::string name, text;
};

struct Tables {
  std::vector<Metric> metrics;   // [[metric]]
  std::vector<Opcodes> opcodes;  // [[opcodes]]
  std::vector<Method> methods;   // [[method]]
};

/// Any file may hold any of the three. Blame::Input: one line per problem, "file:line:column:
/// what".
Result<Tables> read_tables(const std::vector<File>& files);

}  // namespace kw::catalog
