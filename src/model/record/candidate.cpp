#include "record/candidate.h"

#include <fmt/core.h>

#include "core/hash.h"

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

Json to_json(const Candidate& candidate) {
  Json tunes = Json::object();
  for (const auto& [name, value] : candidate.tunes) tunes.set(name, value);
  Json parents = Json::array();
  for (const std::string& parent : candidate.parents) parents.push(parent);
  Json json = Json::object();
  json.set("id", candidate.id).set("tunes", std::move(tunes)).set("proposer", candidate.proposer);
  json.set("origin", candidate.origin).set("parents", std::move(parents));
  if (!candidate.model.empty()) {
    json.set("model_id", candidate.model).set("stage", candidate.stage);
    json.set("attempt", candidate.attempt);
  }
  return json.set("when", candidate.when);
}

Result<Candidate> candidate_from_json(const Json& lineage, std::string text) {
  Candidate candidate;
  candidate.id = lineage["id"].as_string();
  candidate.text = std::move(text);
  for (const auto& [name, value] : lineage["tunes"].members()) {
    if (!value.is_int()) return input_error(fmt::format("tunable {} is not an integer", name));
    candidate.tunes[name] = value.as_int();
  }
  candidate.proposer = lineage["proposer"].as_string();
  candidate.origin = lineage["origin"].as_string();
  for (const Json& parent : lineage["parents"].items()) {
    candidate.parents.push_back(parent.as_string());
  }
  candidate.when = lineage["when"].as_double();
  candidate.model = lineage["model_id"].as_string();
  candidate.stage = lineage["stage"].as_string();
  candidate.attempt = static_cast<int>(lineage["attempt"].as_int());
  const std::string id = candidate_id(candidate.text, candidate.tunes);
  if (id != candidate.id) {
    return input_error(fmt::format("it says it is candidate '{}', but its text and tunables are {}",
                                   candidate.id, id));
  }
  return candidate;
}

}  // namespace kw::record
