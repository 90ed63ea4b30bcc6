// One kernel module with values for its tunables, and its origin. Results are in verdict.h and
// timing.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::record {

struct Candidate {
  std::string id;  // candidate_id(text, tunes)
  std::string text;
  std::map<std::string, int64_t> tunes;
  std::string proposer;              // "builtin", "llm"
  std::string origin;                // what was tried: "row program, block per row, 16-byte loads"
  std::vector<std::string> parents;  // ids of the candidates it was derived from
  double when = 0;                   // seconds since the run started
  // For candidates of a model: which model, for which stage, and the number of the attempt.
  std::string model = {}, stage = {};
  int attempt = 0;
};

/// The id of a candidate: 16 hex digits of a hash of text and tunables.
std::string candidate_id(const std::string& text, const std::map<std::string, int64_t>& tunes);
/// A candidate with its id filled in.
Candidate make_candidate(std::string text, std::map<std::string, int64_t> tunes,
                         std::string proposer, std::string origin,
                         std::vector<std::string> parents = {});

/// All fields except the text (lineage.json).
Json to_json(const Candidate& candidate);
/// The inverse. Input Error when it is not one of our lineages, or its id does not match text and
/// tunables.
Result<Candidate> candidate_from_json(const Json& lineage, std::string text);

}  // namespace kw::record
