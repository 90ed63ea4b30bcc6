#include "evolve/ports.h"

#include <iterator>

#include "core/check.h"

namespace kw::evolve {
namespace {

constexpr const char* kOperators[] = {"guess",     "tune",    "schedule", "cross", "simplify",
                                      "translate", "rewrite", "diff",     "repair"};

Json id_list(const std::vector<std::string>& ids) {
  Json json = Json::array();
  for (const std::string& id : ids) json.push(id);
  return json;
}

std::vector<std::string> ids_of(const Json& json) {
  std::vector<std::string> ids;
  for (const Json& id : json.items()) ids.push_back(id.as_string());
  return ids;
}

}  // namespace

Proposer::~Proposer() = default;
Verifier::~Verifier() = default;
void Verifier::read_again(const record::Candidate&) {}
Result<std::vector<Reading>> Verifier::opinions() { return std::vector<Reading>(); }

const char* operator_name(Operator op) { return kOperators[static_cast<size_t>(op)]; }

std::optional<Operator> operator_named(const std::string& name) {
  for (size_t i = 0; i < std::size(kOperators); ++i) {
    if (name == kOperators[i]) return static_cast<Operator>(i);
  }
  return std::nullopt;
}

Json to_json(const ProposalRequest& order) {
  Json json = Json::object();
  json.set("order", order.number).set("generation", order.generation);
  json.set("island", order.island).set("operator", operator_name(order.op));
  json.set("arm", order.arm).set("parents", id_list(order.parents));
  json.set("context", id_list(order.context));
  return json.set("only_this", order.only_this);
}

ProposalRequest order_from_json(const Json& json) {
  ProposalRequest order;
  order.number = json["order"].as_int();
  order.generation = static_cast<int>(json["generation"].as_int());
  order.island = static_cast<int>(json["island"].as_int());
  order.op = operator_named(json["operator"].as_string()).value_or(Operator::Guess);
  order.arm = json["arm"].as_string();
  order.parents = ids_of(json["parents"]);
  order.context = ids_of(json["context"]);
  order.only_this = json["only_this"].as_bool();
  return order;
}

Result<Vote> MechanicalVerifier::vote(const record::Candidate& candidate) {
  Vote vote;
  vote.seen = KW_TRY(judge_.examine_one(candidate, ports::Depth::Screen));
  vote.score = vote.seen.refused.empty() ? 1 : 0;
  return vote;
}

}  // namespace kw::evolve
