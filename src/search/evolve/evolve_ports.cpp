#include "evolve/evolve_ports.h"

#include <iterator>

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::evolve {
namespace {

constexpr const char* kOperators[] = {"guess",     "tune",    "schedule", "cross", "simplify",
                                      "translate", "rewrite", "diff",     "repair"};

}  // namespace

Author::~Author() = default;
Verifier::~Verifier() = default;
void Verifier::read_again(const record::Candidate&) {}
Result<std::vector<Review>> Verifier::opinions() { return std::vector<Review>(); }

const char* operator_name(Operator op) { return kOperators[static_cast<size_t>(op)]; }

std::optional<Operator> operator_named(const std::string& name) {
  for (size_t i = 0; i < std::size(kOperators); ++i) {
    if (name == kOperators[i]) return static_cast<Operator>(i);
  }
  return std::nullopt;
}

void fields(auto& v, ProposalRequest& r) {
  v("order", r.number)("generation", r.generation)("island", r.island);
  v("operator", r.op, kOperators)("arm", r.arm)("parents", r.parents)("context", r.context);
  v("only_this", r.only_this);
}

Json to_json(const ProposalRequest& request) { return record_json(request); }
ProposalRequest request_from_json(const Json& json) { return read_record<ProposalRequest>(json); }

Result<Vote> MechanicalVerifier::vote(const record::Candidate& candidate) {
  Vote vote;
  vote.seen = KW_TRY(judge_.examine_one(candidate, ports::Depth::Screen));
  vote.score = vote.seen.refused.empty() ? 1 : 0;
  return vote;
}

}  // namespace kw::evolve
