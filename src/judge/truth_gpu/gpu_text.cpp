// The text that precedes the kernels of a truth.
#include <fmt/core.h>

#include <limits>

#include "ports/bound.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

namespace {

#include "kBetweenText.inc"
#include "kGpuJumpsText.inc"
#include "kGpuRulesText.inc"
#include "kJumpRulesText.inc"
#include "kOpTableText.inc"
#include "kRulesText.inc"
#include "kSpecialText.inc"
#include "kSumRulesText.inc"

}  // namespace

std::string rules_text() {
  const ports::BoundConstants& c = ports::bound_constants();
  const std::string constants = fmt::format(
      "#define KW_ON_DEVICE\n"
      "constexpr double kPathFactor = {}, kSumRoot = {}, kSumPlus = {}, kHalfSum = {};\n"
      "constexpr double kChainShare = {}, kChainMost = {};\n",
      number_text(c.path_factor), number_text(c.sum_root), number_text(c.sum_plus),
      number_text(c.half_sum), number_text(ports::chain_units(1)),
      number_text(ports::chain_units(std::numeric_limits<double>::max())));
  return constants + kBetweenText + kSpecialText + kRulesText + kSumRulesText + kJumpRulesText +
         kGpuRulesText + kOpTableText + kGpuJumpsText;
}

}  // namespace kw::truth_gpu
