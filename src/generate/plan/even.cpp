#include "plan/even.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>

#include "emit/emit.h"

namespace kw::generate {

namespace {

/// The divisors of each dim, by the dim's name.
using Divisors = std::map<std::string, std::set<int64_t>>;

/// Notes "(D / 4)", a dim divided by a number.
void note_divisor(const std::string& factor, const task::Dims& dims, Divisors& divisors) {
  for (const auto& [dim, value] : dims) {
    const std::string head = "(" + dim + " / ";
    if (!factor.starts_with(head) || !factor.ends_with(")")) continue;
    int64_t number = 0;
    const char* end = factor.data() + factor.size() - 1;
    const auto read = std::from_chars(factor.data() + head.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number > 1) divisors[dim].insert(number);
  }
}

template <typename Visit>
void each_dim(Graph& graph, const Visit& visit) {
  for (Node& node : graph.nodes) {
    for (Dim& extent : node.shape) visit(extent);
    for (Dim& start : node.attrs.starts) visit(start);
  }
}

/// Expresses the dim and all its quotients as multiples of the smallest one; false if they are not
/// multiples.
bool say_by_smallest(const std::string& dim, int64_t value, const std::set<int64_t>& divisors,
                     std::map<std::string, Dim>& by) {
  const int64_t largest = *divisors.rbegin();
  const bool even = value % largest == 0 && std::ranges::all_of(divisors, [&](int64_t divisor) {
                      return largest % divisor == 0;
                    });
  if (!even) return false;
  const auto text = [&](int64_t divisor) { return fmt::format("({} / {})", dim, divisor); };
  const Dim smallest = Dim::symbol(text(largest), value / largest);
  by.insert_or_assign(dim, smallest * Dim(largest));
  for (const int64_t divisor : divisors) {
    by.insert_or_assign(text(divisor), smallest * Dim(largest / divisor));
  }
  return true;
}

}  // namespace

std::optional<Graph> with_even_quotients(const Graph& graph, const task::Dims& dims) {
  Graph even = graph;
  Divisors divisors;
  each_dim(even, [&](const Dim& extent) {
    for (const auto& [factors, coefficient] : extent.terms()) {
      for (const std::string& factor : factors) note_divisor(factor, dims, divisors);
    }
  });
  std::map<std::string, Dim> by;
  for (const auto& [dim, all] : divisors) {
    if (!say_by_smallest(dim, dims.at(dim), all, by)) continue;
    even.guards.push_back(fmt::format("{} % {} == 0", dim, *all.rbegin()));
  }
  if (by.empty()) return std::nullopt;
  each_dim(even, [&](Dim& extent) { extent = with_value(substitute(extent, by), extent.value()); });
  return even;
}

}  // namespace kw::generate
