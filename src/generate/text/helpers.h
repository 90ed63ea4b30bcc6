// Device functions that generated kernels call: a table of names, texts and what each needs.
#pragma once

#include <set>
#include <string>

#include "tensor/dtype.h"

namespace kw::generate {

/// Definitions of these functions and those they need, each before its users. Names that are not
/// in the table are left to others.
std::string helper_functions(const std::set<std::string>& names);
bool is_helper(const std::string& name);
/// The one that multiplies these halves on tensor cores.
std::string add_product(tensor::DType half);

}  // namespace kw::generate
