#include "shapes/scalar_cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace kw::shapes {

namespace {

enum class Draw : uint8_t { Smaller, Larger, Random };

/// A number in [0, 1) from a seed and a position.
double fraction(uint64_t seed, uint64_t position) {
  uint64_t x = seed + (position + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

double other_integer(int64_t value, Draw draw, double random) {
  const auto size = static_cast<double>(value < 0 ? -value : value);
  const double sign = value < 0 ? -1 : 1;
  if (value == 0) return draw == Draw::Smaller ? 0 : draw == Draw::Larger ? 1 : 2;
  if (draw == Draw::Smaller) return sign * std::max(1.0, std::floor(size / 2));
  if (draw == Draw::Larger) return sign * size * 2;
  return sign * (1 + std::floor(random * 4 * size));
}

/// Small numbers (learning rates, eps) vary over orders of magnitude, so that they show in results.
double other_number(double value, Draw draw, double random) {
  if (value < 0) return -other_number(-value, draw, random);
  if (value == 0) return draw == Draw::Smaller ? 0.25 : draw == Draw::Larger ? 0.5 : random;
  if (draw == Draw::Smaller) return value / 2;
  const bool share = value < 1;
  if (draw == Draw::Larger) return share && value >= 0.1 ? 1 - (1 - value) / 2 : value * 2;
  if (!share) return value * std::exp2(4 * random - 2);
  if (value >= 0.1) return 0.05 + 0.9 * random;
  return std::min(0.5, value * std::pow(10, 2 + 3 * random));
}

}  // namespace

Status add_scalar_cases(const task::Task& task, uint64_t seed, double most_work, ShapePlan& plan) {
  const bool any = std::ranges::any_of(task.scalars, &task::ScalarSpec::runtime);
  if (!any || plan.cases.empty()) return Done{};
  std::vector<const ShapeCase*> cases;
  for (const ShapeCase& one : plan.cases) cases.push_back(&one);
  std::ranges::stable_sort(cases, {}, &ShapeCase::work);
  size_t at = cases.size() / 2;
  while (at > 0 && cases[at]->work > most_work) --at;
  const ShapeCase base = *cases[at];
  uint64_t position = 0;
  for (const Draw draw : {Draw::Smaller, Draw::Larger, Draw::Random}) {
    std::map<std::string, double> values;
    std::string text;
    for (const task::ScalarSpec& spec : task.scalars) {
      if (!spec.runtime) continue;
      const double random = fraction(seed, position++);
      // Kernels may take scalars as floats.
      const double value =
          tensor::is_float(spec.dtype)
              ? static_cast<double>(static_cast<float>(other_number(spec.number, draw, random)))
              : other_integer(spec.integer, draw, random);
      values[spec.name] = value;
      text += fmt::format("{}{}={:g}", text.empty() ? "" : " ", spec.name, value);
    }
    ShapeCase other = base;
    other.demanded = other.benchmark = false;
    other.why = "scalars: " + text;
    other.graph = KW_TRY(task::with_scalars(task, base.dims, base.graph, values));
    plan.cases.push_back(std::move(other));
  }
  return Done{};
}

}  // namespace kw::shapes
