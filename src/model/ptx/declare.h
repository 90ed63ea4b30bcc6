// Parses declarations of variables and parameters, with their initialisers.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/parse_context.h"

namespace kw::ptx {

struct Declared {
  std::string_view name;
  Variable variable;
  std::vector<PendingPatch> pending;  // .variable is not set yet
};

/// Parses the text after a state space word, up to but not including ';': alignment, type, one or
/// more names with dimensions and initialisers. `is_extern` allows a missing size.
bool parse_variables(Context& context, Space space, bool is_extern,
                     std::vector<Declared>& declared);

/// Parses "(.param .u64 a, .param .align 8 .b8 b[16])" including its parentheses.
bool parse_params(Context& context, std::vector<Variable>& params);

}  // namespace kw::ptx
