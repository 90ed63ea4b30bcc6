// Checks between the rows of the catalog: names that exist, priorities used once, consistent
// relations.
#pragma once

#include <string>
#include <vector>

#include "catalog/reader.h"

namespace kw::catalog {

/// "file:line:column" of each row, in the order of the tables.
struct Places {
  std::vector<std::string> metrics, opcodes, methods;
};

/// Appends one line per problem to `problems`.
void check_tables(const Tables& tables, const Places& places, std::vector<std::string>& problems);

}  // namespace kw::catalog
