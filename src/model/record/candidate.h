// One kernel module with its tunables decided, and where it came from. What became of it is in
// verdict.h and timing.h.
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
  std::string proposer;  // "builtin", "llm"
  std::string origin;    // what was tried, in words: "row program, block per row, 16-byte loads"
  std::vector<std::string> parents;  // ids of the candidates it was made from
  double when = 0;                   // seconds since the run started
  // Of a model's: which one, for which stage, at the how-manieth attempt.
  std::string model = {}, stage = {};
  int attempt = 0;
};

/// The name its content has: 16 hex digits of a hash of text and tunables.
std::string candidate_id(const std::string& text, const std::map<std::string, int64_t>& tunes);
/// A candidate with its id filled in.
Candidate make_candidate(std::string text, std::map<std::string, int64_t> tunes,
                         std::string proposer, std::string origin,
                         std::vector<std::string> parents = {});

/// Everything but the text (lineage.json).
Json to_json(const Candidate& candidate);
/// The way back; Blame::Input when it is not a lineage of ours or its id is not that of text and
/// tunables.
Result<Candidate> candidate_from_json(const Json& lineage, std::string text);

}  // namespace kw::record
