// What must hold between the rows of the catalogue: names that exist, priorities used once,
// relations that make sense.
#pragma once

#include <string>
#include <vector>

#include "catalog/reader.h"

namespace kw::catalog {

/// "file:line:column" of each row, in the tables' order.
struct Places {
  std::vector<std::string> metrics, opcodes, methods;
};

/// Adds one line per problem.
void check_tables(const Tables& tables, const Places& places, std::vector<std::string>& problems);

}  // namespace kw::catalog
