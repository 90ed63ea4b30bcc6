// Between which numbers the value of a term lies. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cuda_import/term.h"

namespace kw::cuda_import {

/// Comparisons with constants that hold, by the text of what is compared.
struct Facts {
  std::vector<std::pair<std::string, TermBounds>> known;
  bool positive_dims = false;  // every dim is at least 1

  /// Everything that follows from the condition at once; what does not is ignored.
  void add(const TermRef& condition);
};

/// From the ranges of its parts alone.
TermBounds range_of_parts(const Term& term, const std::vector<TermBounds>& parts);
/// With what is known besides.
TermBounds range_of(const Term& term, const Facts& facts);

}  // namespace kw::cuda_import
