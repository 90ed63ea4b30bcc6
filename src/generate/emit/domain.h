// The elements a kernel runs over: one loop variable per dim at first, then as few axes as the
// accesses allow. [B, S, D] becomes one axis where everything is contiguous, and rows and columns
// where a bias is added.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/index.h"

namespace kw::generate {

struct Axis {
  std::string name;
  Dim extent{1};
};

struct Domain {
  Shape shape;
  Index index;             // a variable per dim; 0 where the extent is always 1
  std::vector<Axis> dims;  // of the variables, outermost first
};

/// Variables named `prefix`0, `prefix`1 …
Domain make_domain(const Shape& shape, const std::string& prefix);
Ranges ranges_of(const Domain& domain);

/// The domain's variables joined to axes, and what each variable became.
struct Joined {
  std::vector<Axis> axes;             // outermost first; at least one
  std::map<std::string, Dim> rename;  // of the domain's variables
};

/// Neighbours become one axis where every one of `used` sees them as one number. Axes are called
/// `names` from the innermost outwards; further ones are numbered.
Joined joined(const Domain& domain, const std::vector<Dim>& used,
              const std::vector<std::string>& names);

}  // namespace kw::generate
