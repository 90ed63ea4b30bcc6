#include "metric/metric_fast.h"

namespace kw::metric {

FastJudge fast_judge() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return &v4::judge_chunk;
  if (__builtin_cpu_supports("x86-64-v3")) return &v3::judge_chunk;
  return &v2::judge_chunk;
}

}  // namespace kw::metric
