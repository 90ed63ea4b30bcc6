#include "record/candidate.h"

#include <fmt/core.h>

#include "core/hash.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::record {

namespace {

constexpr size_t kIdDigits = 16;

}  // namespace

std::string candidate_id(const std::string& text, const std::map<std::string, int64_t>& tunes) {
  // The length comes first, so that no text can imitate the tunables of another candidate.
  std::string content = fmt::format("{}\n{}", text.size(), text);
  for (const auto& [name, value] : tunes) content += fmt::format("\n{}={}", name, value);
  return hash_hex(content).substr(0, kIdDigits);
}

Candidate make_candidate(std::string text, std::map<std::string, int64_t> tunes,
                         std::string proposer, std::string origin,
                         std::vector<std::string> parents) {
  std::string id = candidate_id(text, tunes);
  return {std::move(id),       std::move(text),   std::move(tunes),
          std::move(proposer), std::move(origin), std::move(parents)};
}

void fields(auto& v, Candidate& c) {
  const When by_model{!c.model.empty()};
  v("id", c.id)("tunes", c.tunes)("proposer", c.proposer)("origin", c.origin)("parents", c.parents);
  v("model_id", c.model, by_model)("stage", c.stage, by_model)("attempt", c.attempt, by_model);
  v("when", c.when);
}

Json to_json(const Candidate& candidate) { return record_json(candidate); }

Result<Candidate> candidate_from_json(const Json& lineage, std::string text) {
  for (const auto& [name, value] : lineage["tunes"].members()) {
    if (!value.is_int()) return input_error("tunable {} is not an integer", name);
  }
  auto candidate = read_record<Candidate>(lineage);
  candidate.text = std::move(text);
  const std::string id = candidate_id(candidate.text, candidate.tunes);
  if (id != candidate.id) {
    return input_error("stored id '{}' differs from the computed id {}", candidate.id, id);
  }
  return candidate;
}

}  // namespace kw::record
