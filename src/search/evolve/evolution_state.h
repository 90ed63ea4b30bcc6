// The state of an evolution, computed from its journal. Every change is an event that is first
// written and then applied here. So a killed process resumes exactly where its journal ends.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "evolve/bandit.h"
#include "evolve/evolve_ports.h"
#include "evolve/misfits.h"
#include "evolve/population.h"

namespace kw::evolve {

/// The kind of an evolution's events in the journal of a run.
inline constexpr const char* kEvolveEvent = "evolve";

/// Which authors write the proposals.
enum class Authors : uint8_t { Builtin, Models, Both };
/// Search for the first right kernel, or make a right kernel faster.
enum class Mode : uint8_t { Translate, Optimize, Auto };

struct Settings {
  int generations = 10, proposals = 8, hardware = 4;
  int islands = 1;
  int in_flight = 4;  // requests at a time, when models are asked
  Authors authors = Authors::Builtin;
  Mode mode = Mode::Auto;
  uint64_t seed = 0;
  std::vector<std::string> arms;  // names; empty without models
  bool has_clock = false;         // the judge has a clock
  std::string verifier = "mechanical";

  bool asks_models() const { return authors != Authors::Builtin; }
  int64_t requests() const { return int64_t{generations} * proposals; }
};

/// A new best candidate.
struct Point {
  int64_t proposals = 0;  // finished proposals at that time
  std::string id;
  double us = 0;
  bool measured = false;
  double usd = 0;  // spent at that time, as far as known
};

/// Finds a stored candidate by its id.
using FindCandidate = std::function<std::optional<record::Candidate>(const std::string& id)>;

class State {
 public:
  State();

  /// The first event of a session; the first session's event also describes the run.
  static Json begin_event(const Settings& settings);
  static Json request_event(const ProposalRequest& request);
  static Json proposal_event(const ProposalRequest& request, const Proposal& proposal);
  static Json seen_event(const std::string& id, const Vote& vote);
  static Json read_event(const Review& reading);
  static Json chosen_event(const std::vector<std::string>& ids);
  static Json judged_event(const std::string& id, const ports::Outcome& seen);
  static Json generation_event(int generation);
  static Json end_event(const std::string& why);

  /// Ignores unknown events and candidates that cannot be found. An event that does not follow
  /// those before it is a misfit: it is told, and ignored unless only earlier ones are missing.
  void apply(const Json& event, const FindCandidate& find);
  /// One sentence for each misfit. A journal that was not damaged has none.
  const std::vector<std::string>& misfits() const { return misfits_.list(); }

  const Population& archive() const { return archive_; }
  const Bandit& models() const { return models_; }
  const Bandit& operators() const { return operators_; }
  const std::deque<ProposalRequest>& in_flight() const { return in_flight_; }
  /// The candidate that came back and that no verifier has seen yet.
  const std::optional<std::string>& unseen() const { return unseen_; }
  /// Candidates whose review has begun and not ended.
  const std::vector<std::string>& unread() const { return unread_; }
  /// The candidates to judge in this generation; not set: not chosen yet.
  const std::optional<std::vector<std::string>>& chosen() const { return chosen_; }

  int64_t next_request() const { return next_request_; }
  int generation() const { return generation_; }
  /// Finished proposals: in total, and since the last generation ended.
  int64_t retired() const { return retired_; }
  int64_t retired_now() const { return retired_now_; }
  bool exhausted() const { return exhausted_; }
  const std::vector<Point>& curve() const { return curve_; }
  double usd() const { return usd_; }
  int64_t unpriced() const { return unpriced_; }
  int sessions() const { return sessions_; }
  /// The first candidate that counted; the baseline of the others.
  const std::string& first() const { return first_; }
  /// Settings that changed between sessions, as text.
  const std::vector<std::string>& changes() const { return changes_; }

 private:
  void begin(const Json& event);
  void requested(const ProposalRequest& request);
  void proposed(const Json& event, const FindCandidate& find);
  void seen(const Json& event);
  void read(const Json& event);
  void judged(const Json& event);
  void reward(const Entry& entry, double before);
  void retire();
  void forget_refused();
  void note_best();

  Population archive_;
  Bandit models_, operators_;
  std::deque<ProposalRequest> in_flight_;
  std::optional<std::string> unseen_;
  std::vector<std::string> unread_;
  std::optional<std::vector<std::string>> chosen_;
  std::set<int64_t> cut_off_;  // requests in flight when a session ended
  int64_t next_request_ = 0, retired_ = 0, retired_now_ = 0, unpriced_ = 0;
  int generation_ = 0, islands_ = 1, sessions_ = 0;
  bool exhausted_ = false, has_clock_ = false;
  double usd_ = 0;
  std::string first_;
  std::vector<Point> curve_;
  std::vector<std::string> changes_;
  Misfits misfits_;
  Json settings_;  // of the last session
};

/// The operators without a model, as the arms of a bandit.
const std::vector<std::string>& builtin_operators();
const char* authors_name(Authors authors);
const char* mode_name(Mode mode);

}  // namespace kw::evolve
