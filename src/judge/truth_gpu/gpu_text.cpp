// The text that precedes the kernels of a truth.
#include <fmt/core.h>

#include <limits>

#include "ports/bound.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

namespace {

#include "kGpuJumpsText.inc"
#include "kGpuRulesText.inc"
#include "kOpTableText.inc"

}  // namespace

std::string rules_text() {
  return fmt::format("constexpr double kPathFactor = {}, kChainShare = {}, kChainMost = {};\n",
                     number_text(ports::bound_constants().path_factor),
                     number_text(ports::chain_units(1)),
                     number_text(ports::chain_units(std::numeric_limits<double>::max()))) +
         kGpuRulesText + kOpTableText + kGpuJumpsText;
}

}  // namespace kw::truth_gpu
