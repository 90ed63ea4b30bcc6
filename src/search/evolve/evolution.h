// The evolution: sends requests while others are in flight, lets verifiers look at each candidate,
// and judges the most promising ones after each generation. It uses only its ports; docs/evolve.md
// explains it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "evolve/evolution_state.h"
#include "evolve/evolve_ports.h"
#include "ports/journal.h"

namespace kw::evolve {

struct Ports {
  Author* proposer = nullptr;
  Verifier* verifier = nullptr;
  ports::Judge* judge = nullptr;
  ports::Journal* journal = nullptr;
  FindCandidate find;               // candidates of earlier sessions
  std::function<double()> seconds;  // since the session began
  std::function<void(const State&, const std::string& what)> watch = {};  // may be empty
};

struct Limits {
  double seconds = 0;  // 0: no limit
  double goal_us = 0;  // stop at this time; 0: no goal
};

class Evolution {
 public:
  /// `state` may come from the journal of an earlier session. Borrows all ports and the state.
  Evolution(Settings settings, Limits limits, Ports ports, State& state);

  /// Runs until a reason to stop, and returns it as text. The state has every result, also when an
  /// Error (of the machine, or "interrupted") ends the run.
  Result<std::string> run();

 private:
  Status note(const Json& event);
  Status place();
  ProposalRequest next() const;
  void request_builtin(ProposalRequest& request, Random& random) const;
  void request_from_model(ProposalRequest& request, Random& random) const;
  bool needs_model(int64_t number) const;
  const Entry* to_tune(int64_t number, int island) const;
  bool translating() const;
  Status retire();
  Status collect_reviews();
  Status look(const std::string& id);
  std::vector<std::string> worth_running() const;
  Status hardware();
  std::optional<std::string> reason_to_stop() const;
  void report_progress(const std::string& what) const;

  const Settings settings_;
  const Limits limits_;
  Ports ports_;
  State& state_;
  std::optional<record::Candidate> fresh_;  // kept by the journal, not yet in the state
};

}  // namespace kw::evolve
