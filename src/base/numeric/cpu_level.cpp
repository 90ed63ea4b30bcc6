#include "numeric/cpu_level.h"

namespace kw::numeric {

std::vector<CpuLevel> supported_levels() {
  __builtin_cpu_init();
  std::vector<CpuLevel> levels = {CpuLevel::V2};
  if (__builtin_cpu_supports("x86-64-v3")) levels.push_back(CpuLevel::V3);
  if (__builtin_cpu_supports("x86-64-v4")) levels.push_back(CpuLevel::V4);
  return levels;
}

CpuLevel best_level() {
  static const CpuLevel best = supported_levels().back();
  return best;
}

}  // namespace kw::numeric
