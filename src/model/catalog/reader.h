// Reads the files of the catalog (TOML) into tables. It is strict and reports all problems at once,
// with their places.
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

/// Any file may hold rows of any of the three kinds. The input Error has one line per problem:
/// "file:line:column: what".
Result<Tables> read_tables(const std::vector<File>& files);

}  // namespace kw::catalog
