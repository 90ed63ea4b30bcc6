// Which of two programs is faster, and how sure that is, from samples taken in pairs. Pure
// functions of the samples.
//
// The i-th samples of both were taken in the same pass, and passes alternate in order (ABBA), so
// what drifts meets both alike: only the ratio within a pass is looked at, averaged over two
// neighbouring passes. Ratios of one cycle (one set of buffers and addresses) resemble each other
// more than those of another, and those of one process more than those of another; the interval
// comes from resampling at every level: processes, cycles, runs of neighbouring ratios.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"

namespace kw::clock {

/// Samples of two programs from one timing call, equally many.
struct Cycle {
  int worker = 0;  // which process took them
  std::vector<double> candidate, baseline;
};

enum class Relation : uint8_t { Faster, Same, Slower, Ambiguous };
/// "FASTER", "SAME", "SLOWER" or "AMBIGUOUS".
const char* relation_name(Relation relation);

struct CompareOptions {
  double least_effect = 0.005;  // smaller differences are not called faster or slower
  double same_within = 0.01;    // an interval inside this is called the same
  double confidence = 0.99;
  int64_t least_pairs = 8;  // of passes
  uint64_t seed = 1;
};

struct Comparison {
  Relation relation = Relation::Ambiguous;
  double speedup = 1;  // baseline's time over the candidate's; above 1: the candidate is faster
  double low = 0, high = 0;  // interval of the speedup
  double detectable = 0;     // the least relative difference that would have been seen 4 times of 5
  int64_t pairs = 0;
  int cycles = 0, workers = 0;
  std::string why;  // of an ambiguous one
};

Comparison compare(std::span<const Cycle> cycles, const CompareOptions& options = {});
Json to_json(const Comparison& comparison);

}  // namespace kw::clock
