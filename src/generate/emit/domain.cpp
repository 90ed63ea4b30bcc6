#include "emit/domain.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::generate {

namespace {

bool always_one(const Dim& dim) { return dim.is_constant() && dim.value() == 1; }

bool seen_as_one(const Axis& outer, const Axis& inner, const std::vector<Dim>& used) {
  return std::ranges::all_of(used, [&](const Dim& index) {
    const auto a = coefficient(index, outer.name), b = coefficient(index, inner.name);
    return a && b && a->same_text(*b * inner.extent);
  });
}

}  // namespace

std::vector<std::string> names_of(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

Dim count_of(const std::vector<Axis>& axes) {
  Dim count(1);
  for (const Axis& axis : axes) count = count * axis.extent;
  return count;
}

Domain make_domain(const Shape& shape, const std::string& prefix) {
  Domain domain{shape, {}, {}};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (always_one(shape[d])) {
      domain.index.emplace_back(0);
      continue;
    }
    domain.dims.push_back({fmt::format("{}{}", prefix, d), shape[d]});
    domain.index.push_back(variable(domain.dims.back().name));
  }
  return domain;
}

Ranges ranges_of(const Domain& domain) {
  Ranges ranges;
  for (const Axis& dim : domain.dims) ranges.insert_or_assign(dim.name, dim.extent);
  return ranges;
}

Joined joined(const Domain& domain, const std::vector<Dim>& used,
              const std::vector<std::string>& names) {
  std::vector<std::vector<Axis>> groups;
  for (const Axis& dim : domain.dims) {
    if (!groups.empty() && seen_as_one(groups.back().back(), dim, used)) {
      groups.back().push_back(dim);
    } else {
      groups.push_back({dim});
    }
  }
  Joined out;
  if (groups.empty()) out.axes.push_back({names[0], Dim(1)});
  for (size_t g = 0; g < groups.size(); ++g) {
    const size_t from_inside = groups.size() - 1 - g;
    Axis axis{from_inside < names.size() ? names[from_inside]
                                         : fmt::format("{}{}", names.back(), from_inside),
              Dim(1)};
    for (const Axis& dim : groups[g]) {
      axis.extent = axis.extent * dim.extent;
      out.rename.insert_or_assign(dim.name, Dim(0));
    }
    out.rename.insert_or_assign(groups[g].back().name, variable(axis.name));
    out.axes.push_back(std::move(axis));
  }
  return out;
}

}  // namespace kw::generate
