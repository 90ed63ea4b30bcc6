// The search itself: propose, screen by the cost model, measure what looks good, halve the
// survivors in paired timings, certify the winner. Sees only its two ports; docs/search.md tells
// the story.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "halving/archive.h"
#include "halving/ports.h"
#include "halving/stop.h"

namespace kw::halving {

enum class Phase : uint8_t { Screen, Measure, Pair, Certify };
/// "screening", "measuring", "pairing", "certifying".
const char* phase_name(Phase phase);

struct Options {
  size_t batch = 8;           // proposed and screened at a time
  size_t lane = 4;            // measured at a time
  bool by_estimate = true;    // what looks best is measured first; else as it was proposed
  double spread = 1.5;        // an estimate beyond the best one times this is not worth the clock
  size_t finalists = 8;       // that meet in paired timings
  double contend = 1.1;       // a time beyond the best one times this is out of the finals
  size_t certifications = 8;  // tried before we give up
  double floor_us = 0;
  StopRules rules;
  std::function<double()> seconds;                         // since the search began
  std::function<void(const Standing&, Phase)> watch = {};  // after every step; may be empty
};

struct SearchResult {
  std::optional<std::string> winner;  // id; certified
  std::string stopped;                // why no more was tried
  std::vector<std::string> kept;      // the others in the race, best first
  double seconds = 0;                 // until no more was tried
  size_t measured = 0;                // gated and timed in these, refused ones included
};

/// Goes on from what the archive holds; everything learnt is in it afterwards, also when an Error
/// (the machine's, or "interrupted") ends the search.
Result<SearchResult> run(Proposer& proposer, ports::Judge& judge, Archive& archive,
                         const Options& options);

}  // namespace kw::halving
