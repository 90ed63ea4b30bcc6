// Decides which of two programs is faster, and how certain that is, from paired samples. All
// functions are pure.
//
// The i-th samples of both programs come from the same pass, and the order alternates (ABBA). Drift
// therefore affects both alike. Only the ratio within a pass is used, averaged over two
// neighbouring passes. Ratios of the same cycle (one set of buffers and addresses) are correlated;
// so are the ratios of the same process. The interval therefore comes from resampling at every
// level: processes, cycles, runs of neighbouring ratios.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"

namespace kw::clock {

/// Samples of two programs from one timing call; both have the same number of samples.
struct Cycle {
  int worker = 0;  // index of the process that took the samples
  std::vector<double> candidate, baseline;
};

enum class Relation : uint8_t { Faster, Same, Slower, Ambiguous };
/// "FASTER", "SAME", "SLOWER" or "AMBIGUOUS".
const char* relation_name(Relation relation);

struct CompareOptions {
  double least_effect = 0.005;  // smaller differences are not called faster or slower
  double same_within = 0.01;    // an interval inside ± this is called the same
  double confidence = 0.99;
  int64_t least_pairs = 8;  // the least number of passes
  uint64_t seed = 1;
};

struct Comparison {
  Relation relation = Relation::Ambiguous;
  double speedup = 1;        // baseline time / candidate time; above 1: the candidate is faster
  double low = 0, high = 0;  // confidence interval of the speedup
  double detectable = 0;     // the least relative difference found with probability 0.8
  int64_t pairs = 0;
  int cycles = 0, workers = 0;
  std::string why;  // the reason, when Ambiguous
};

Comparison compare(std::span<const Cycle> cycles, const CompareOptions& options = {});
Json to_json(const Comparison& comparison);

}  // namespace kw::clock
