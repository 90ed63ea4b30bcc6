// A table of the device functions that generated kernels call: names, texts and dependencies.
#pragma once

#include <set>
#include <string>

#include "text/graph_names.h"

namespace kw::generate {

/// Definitions of these functions and those they need, each before its users. Names that are not in
/// the table are ignored.
std::string helper_functions(const std::set<std::string>& names);
bool is_helper(const std::string& name);
/// The name of the function that multiplies this half type on tensor cores.
std::string add_product(DType half);

}  // namespace kw::generate
