#include "optimize/optimize_tools.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kw::optimize {
namespace {

constexpr size_t kCopies = 4;  // of one kernel, to measure the noise

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Author::~Author() = default;

ports::Candidates candidates_of(const std::vector<std::string>& kernels) {
  ports::Candidates out;
  for (size_t i = 0; i < kernels.size(); ++i) {
    out.push_back(record::make_candidate(kernels[i], {}, "optimize",
                                         fmt::format("kernel {} of {}", i + 1, kernels.size())));
  }
  return out;
}

Result<std::vector<ports::Outcome>> race(ports::Judge& judge,
                                         const std::vector<std::string>& kernels) {
  return judge.race(candidates_of(kernels), {.compare = true});
}

Result<std::optional<Noise>> noise_of(ports::Judge& judge, const std::string& kernel) {
  if (!judge.has_clock()) return std::optional<Noise>();
  std::vector<double> differences, detectable;
  Noise noise;
  for (const ports::Outcome& copy : KW_TRY(race(judge, std::vector(kCopies, kernel)))) {
    if (!copy.ratio) continue;
    differences.push_back(100 * std::abs(1 / copy.ratio->value - 1));
    detectable.push_back(100 * copy.ratio->detectable);
    noise.pairs += copy.ratio->pairs;
  }
  if (differences.empty()) return std::optional<Noise>();
  noise.noise_pct = median_of(std::move(differences));
  noise.mde_pct = std::max(noise.noise_pct, median_of(std::move(detectable)));
  return std::optional(noise);
}

}  // namespace kw::optimize
