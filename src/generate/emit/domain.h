// The elements that a kernel computes: first one loop variable per dim, then as few axes as the
// accesses allow. [B, S, D] becomes one axis if all accesses are contiguous, and rows and columns
// if a bias is added.
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

std::vector<std::string> names_of(const std::vector<Axis>& axes);
/// The product of all extents.
Dim count_of(const std::vector<Axis>& axes);

struct Domain {
  Shape shape;
  Index index;             // a variable per dim; 0 if the extent is always 1
  std::vector<Axis> dims;  // the variables, outermost first
};

/// Variables are named `prefix`0, `prefix`1 …
Domain make_domain(const Shape& shape, const std::string& prefix);
Ranges ranges_of(const Domain& domain);

/// The domain's variables joined to axes, and the index that replaces each variable.
struct Joined {
  std::vector<Axis> axes;             // outermost first; at least one
  std::map<std::string, Dim> rename;  // by the domain's variables
};

/// Adjacent dims become one axis if every index in `used` addresses them as one number. Axes get
/// `names` from the innermost outwards; further axes are numbered.
Joined joined(const Domain& domain, const std::vector<Dim>& used,
              const std::vector<std::string>& names);

}  // namespace kw::generate
