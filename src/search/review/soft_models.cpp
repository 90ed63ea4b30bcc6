#include "review/soft_models.h"

#include "llm/ledger.h"

namespace kw::review {

stages::Answer answer_of(stages::ModelSession& session) {
  return [&session](const llm::ModelId& id, const llm::Request& request) {
    return session.answer(id, request, llm::Watch{});
  };
}

Price price_of(stages::ModelSession& session) {
  return
      [&session](const llm::ModelId& id, const llm::Request& request, const llm::Outcome& outcome) {
        const llm::Config& config = session.client().config();
        return llm::charge_of(request, outcome, config.price(id.provider, id.model)).usd;
      };
}

}  // namespace kw::review
