// The evolution itself: orders are placed while others are in flight, what comes back is looked at
// before hardware is spent on it, and after so many proposals the most promising are judged. Sees
// only its ports; docs/evolve.md tells the story.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "evolve/ports.h"
#include "evolve/state.h"

namespace kw::evolve {

struct Ports {
  Proposer* proposer = nullptr;
  Verifier* verifier = nullptr;
  ports::Judge* judge = nullptr;
  Journal* journal = nullptr;
  FindCandidate find;               // candidates of earlier sessions
  std::function<double()> seconds;  // since the session began
  std::function<void(const State&, const std::string& what)> watch = {};  // may be empty
};

struct Limits {
  double seconds = 0;  // 0: none
  double goal_us = 0;  // good enough; 0: never
};

class Evolution {
 public:
  /// `state` may be what an earlier session's journal folds to. Borrows all.
  Evolution(Settings settings, Limits limits, Ports ports, State& state);

  /// Why it ended, in words. Everything learnt is in the state, also when an Error (the machine's,
  /// or "interrupted") ends it.
  Result<std::string> run();

 private:
  Status note(const Json& event);
  Status place();
  Order next() const;
  void order_builtin(Order& order, Random& random) const;
  void order_model(Order& order, Random& random) const;
  bool wants_model(int64_t number) const;
  const Entry* to_tune(int64_t number, int island) const;
  bool translating() const;
  Status retire();
  Status hear();
  Status look(const std::string& id);
  std::vector<std::string> worth_hardware() const;
  Status hardware();
  std::optional<std::string> reason_to_stop() const;
  void tell(const std::string& what) const;

  const Settings settings_;
  const Limits limits_;
  Ports ports_;
  State& state_;
  std::optional<record::Candidate> fresh_;  // kept, and not yet in the state
};

}  // namespace kw::evolve
