// Which mutants of a module are judged: some of each operator, of different rules, chosen by a
// seed.
#pragma once

#include <cstdint>
#include <vector>

#include "operators.h"

namespace kw::mutation {

/// At most `each` mutants of every operator; operators that find few places in a module get twice
/// as many.
std::vector<Mutation> sample(std::vector<Mutation> all, size_t each, uint64_t seed);

}  // namespace kw::mutation
