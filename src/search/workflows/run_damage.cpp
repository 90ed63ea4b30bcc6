#include "workflows/run_damage.h"

#include <optional>

namespace kw::workflows {

evolve::State evolved_so_far(const store::Run& run) {
  const auto find = [&run](const std::string& id) -> std::optional<record::Candidate> {
    Result<record::Candidate> kept = run.candidate(id);
    return kept ? std::optional(std::move(kept).value()) : std::nullopt;
  };
  evolve::State state;
  for (const record::Event& event : run.events()) {
    if (event.kind == evolve::kEvolveEvent) state.apply(event.data, find);
  }
  return state;
}

std::vector<std::string> damage_of(const store::Run& run) {
  std::vector<std::string> found = run.damage();
  const evolve::State state = evolved_so_far(run);
  for (const std::string& misfit : state.misfits()) found.push_back("events.jsonl: " + misfit);
  return found;
}

}  // namespace kw::workflows
