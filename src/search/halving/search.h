// The search: propose candidates, screen them, measure the promising ones, halve the survivors in
// paired timings, certify the winner. It uses only two ports; docs/search.md explains it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "core/result.h"
#include "halving/proposer.h"
#include "halving/stop.h"

namespace kw::halving {

enum class Phase : uint8_t { Screen, Measure, Pair, Certify };
/// "screening", "measuring", "pairing", "certifying".
const char* phase_name(Phase phase);

struct Options {
  size_t batch = 8;           // candidates proposed and screened at a time
  size_t lane = 4;            // candidates measured at a time
  bool by_estimate = true;    // measure the best estimates first; false: in proposed order
  double spread = 1.5;        // an estimate above the best one times this is not measured
  size_t finalists = 8;       // candidates in the paired timings
  double contend = 1.1;       // a time above the best one times this is not a finalist
  size_t certifications = 8;  // attempts before the search gives up
  double floor_us = 0;
  StopRules rules;
  std::function<double()> seconds;  // since the search began
  std::function<void(const SearchProgress&, Phase)> watch =
      {};  // called after every step; may be empty
};

struct SearchResult {
  std::optional<std::string> winner;  // id of the certified candidate
  std::string stopped;                // why the search stopped
  std::vector<std::string> kept;      // ids of the others not refused, best first
  double seconds = 0;                 // until the search stopped exploring
  size_t measured = 0;                // verified and timed in these, refused ones included
};

/// Starts from what the archive holds. The archive has every result afterwards, also when an Error
/// (of the machine, or "interrupted") ends the search.
Result<SearchResult> run(Proposer& proposer, ports::Judge& judge, Archive& archive,
                         const Options& options);

}  // namespace kw::halving
