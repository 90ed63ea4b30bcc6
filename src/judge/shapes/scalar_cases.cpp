// The problem: a kernel with a scalar's default built in, or that is wrong far from it, is right at
// the task's values. So one shape is copied with other values: near, orders of magnitude away, all
// alike, and constants of the candidate's code. Random values alone would hardly meet a limit;
// values of another kind (a negative rate, a step of zero) would judge what no task asks for. The
// cost: seven more shapes for tasks with runtime scalars; values of other kinds are unseen.
#include "shapes/scalar_cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/contains.h"

namespace kw::shapes {

namespace {

enum class Draw : uint8_t { Smaller, Larger, Random, Small, Large, AnySize, Alike };
constexpr Draw kDraws[] = {Draw::Smaller, Draw::Larger,  Draw::Random, Draw::Small,
                           Draw::Large,   Draw::AnySize, Draw::Alike};
constexpr double kBeyondInt32 = 0x1p33;
constexpr double kThousand = 1000;
constexpr size_t kMostConstantCases = 36;
constexpr double kBeside = 0x1p-10;

/// A number in [0, 1) from a seed and a position.
double fraction(uint64_t seed, uint64_t position) {
  uint64_t x = seed + (position + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

int64_t other_integer(const task::ScalarSpec& spec, Draw draw, double random) {
  const int64_t value = spec.integer;
  const auto size = static_cast<double>(value < 0 ? -value : value);
  const double sign = value < 0 ? -1 : 1;
  const bool wide = tensor::dtype_size(spec.dtype) == 8;
  const auto drawn = [&]() -> double {
    switch (draw) {
      case Draw::Smaller:
        return value == 0 ? 0 : std::max(1.0, std::floor(size / 2));
      case Draw::Larger:
        return value == 0 ? 1 : size * 2;
      case Draw::Random:
        return value == 0 ? 2 : 1 + std::floor(random * 4 * size);
      case Draw::Small:
        return 1;
      case Draw::Large:
        return std::floor((wide ? kBeyondInt32 : 0x1p20) * std::exp2(3 * random));
      case Draw::AnySize:
        return random < 0.5 ? kThousand : std::floor(std::exp2(1 + 28 * (2 * random - 1)));
      case Draw::Alike:
        return 2;
    }
    return size;
  };
  const double most = wide ? 0x1p62 : std::ldexp(1.0, 8 * tensor::dtype_size(spec.dtype) - 1) - 1;
  return static_cast<int64_t>(sign * std::min(drawn(), most));
}

/// Far from the task's value, but of its kind. Shares do not come so near to 1 that 1 - x ^ n in
/// fp32 would be the rounding of x alone.
double far_number(double value, Draw draw, double random) {
  if (value >= 1) {
    const double octaves = draw == Draw::Small   ? -11 - 3 * random
                           : draw == Draw::Large ? 6 + 4 * random
                                                 : 24 * random - 12;
    return value * std::exp2(octaves);
  }
  if (value >= 0.1) {
    if (draw == Draw::Large) return 1 - (1 - value) / (2 + 2 * random);
    return draw == Draw::Small ? 0.01 + 0.04 * random : std::exp2(-10 * random - 0.1);
  }
  if (draw == Draw::Large) return 0.1 + 0.4 * random;
  return value * std::exp2(draw == Draw::Small ? -10 * random - 1 : 12 * random - 6);
}

/// Small numbers (learning rates, eps) vary over orders of magnitude, so that they show in results.
double other_number(double value, Draw draw, double random) {
  if (value < 0) return -other_number(-value, draw, random);
  if (value == 0) return draw == Draw::Smaller ? 0.25 : draw == Draw::Larger ? 0.5 : random;
  if (draw == Draw::Smaller) return value / 2;
  const bool share = value < 1;
  if (draw == Draw::Larger) return share && value >= 0.1 ? 1 - (1 - value) / 2 : value * 2;
  if (draw != Draw::Random) return far_number(value, draw, random);
  if (!share) return value * std::exp2(4 * random - 2);
  if (value >= 0.1) return 0.05 + 0.9 * random;
  return std::min(0.5, value * std::pow(10, 2 + 3 * random));
}

/// All numbers have this size in the case where they are alike: kernels may treat equal scalars, or
/// two halves, apart.
double common_size(uint64_t seed) {
  const double random = fraction(seed, 1U << 20);
  return random < 0.5 ? 0.5 : 0.05 + 0.9 * (random - 0.5);
}

/// A shape of medium work.
const ShapeCase& medium_case(const ShapePlan& plan, double most_work) {
  std::vector<const ShapeCase*> cases;
  for (const ShapeCase& one : plan.cases) cases.push_back(&one);
  std::ranges::stable_sort(cases, {}, &ShapeCase::work);
  size_t at = cases.size() / 2;
  while (at > 0 && cases[at]->work > most_work) --at;
  return *cases[at];
}

Result<ShapeCase> with_values(const task::Task& task, const ShapeCase& base,
                              const std::map<std::string, double>& values, const char* what) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{}={:g}", text.empty() ? "" : " ", name, value);
  ShapeCase other = base;
  other.demanded = other.benchmark = false;
  other.why = what + text;
  other.graph = KW_TRY(task::with_scalars(task, base.dims, base.graph, values));
  return other;
}

/// The constants that are values of the scalar's kind.
std::vector<double> constants_for(const task::ScalarSpec& spec, const inputs::Immediates& module) {
  std::vector<double> found;
  const auto add = [&](double value) {
    if (found.size() < kMostConstantCases && !contains(found, value)) found.push_back(value);
  };
  if (!tensor::is_float(spec.dtype)) {
    for (size_t i = 0; i < module.compared_integers; ++i) {
      const int64_t value = module.integers[i];
      for (const int64_t beside : {value, value - 1, value + 1}) {
        if (spec.integer < 0 ? beside < 0 : beside > 0 && beside < int64_t{1} << 53)
          add(static_cast<double>(beside));
      }
    }
    return found;
  }
  for (size_t i = 0; i < module.compared_numbers; ++i) {
    const double value = module.numbers[i];
    const bool negative = spec.number < 0, share = std::fabs(spec.number) < 1;
    if ((value < 0) != negative || (share && std::fabs(value) >= 1)) continue;
    // The sides of a comparison: at the constant itself, both may give the same.
    for (const double factor : {1.0, 1 - kBeside, 1 + kBeside}) {
      const auto beside = static_cast<float>(value * factor);
      if (!share || std::fabs(beside) < 1) add(beside);
    }
  }
  return found;
}

}  // namespace

Status add_scalar_cases(const task::Task& task, uint64_t seed, double most_work, ShapePlan& plan) {
  const bool any = std::ranges::any_of(task.scalars, &task::ScalarSpec::runtime);
  if (!any || plan.cases.empty()) return Done{};
  const ShapeCase base = medium_case(plan, most_work);
  uint64_t position = 0;
  for (const Draw draw : kDraws) {
    std::map<std::string, double> values;
    for (const task::ScalarSpec& spec : task.scalars) {
      if (!spec.runtime) continue;
      const double random = fraction(seed, position++);
      const double alike = std::copysign(common_size(seed), spec.number);
      // Kernels may take scalars as floats.
      values[spec.name] =
          tensor::is_float(spec.dtype)
              ? static_cast<double>(static_cast<float>(
                    draw == Draw::Alike ? alike : other_number(spec.number, draw, random)))
              : static_cast<double>(other_integer(spec, draw, random));
    }
    Result<ShapeCase> made = with_values(task, base, values, "scalars: ");
    if (made)
      plan.cases.push_back(std::move(made).value());
    else if (draw <= Draw::Random)  // far from its values, a formula may have none
      return std::move(made).error();
  }
  return Done{};
}

Result<std::vector<ShapeCase>> constant_scalar_cases(const task::Task& task, const ShapePlan& plan,
                                                     const inputs::Immediates& module,
                                                     double most_work) {
  std::vector<ShapeCase> made;
  if (plan.cases.empty()) return made;
  const ShapeCase* base = nullptr;
  std::vector<std::pair<std::string, std::vector<double>>> choices;
  size_t most = 0;
  for (const task::ScalarSpec& spec : task.scalars) {
    if (!spec.runtime) continue;
    choices.emplace_back(spec.name, constants_for(spec, module));
    most = std::max(most, choices.back().second.size());
  }
  if (most == 0) return made;
  base = &medium_case(plan, most_work);
  for (size_t turn = 0; turn < most; ++turn) {
    std::map<std::string, double> values = base->graph.scalars;
    for (const auto& [name, constants] : choices) {
      if (!constants.empty()) values[name] = constants[turn % constants.size()];
    }
    made.push_back(KW_TRY(with_values(task, *base, values, "scalars in the code: ")));
  }
  return made;
}

}  // namespace kw::shapes
