// An evolution takes hours, so it must survive a crash at any moment. The state is therefore a fold
// over the journal: each event is written first and applied here afterwards, in the live run and on
// resume alike. Saving the whole state from time to time would be simpler to load, but loses what
// came between. Events hold all that the fold needs, such as fingerprints and outcomes, so a resume
// needs no compiler and no GPU. Requests to models in flight at a crash are sent again, and their
// first cost counts as unknown. The cost: every decision must be a function of the state and the
// seed, never of the clock.
#include "evolve/evolution_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"

namespace kw::evolve {
namespace {

constexpr int64_t kMostIslands = 100000;
constexpr size_t kMostDetail = 4000;  // of the stored text about a failure
constexpr double kBetter = 0.995;     // smaller gains do not count
constexpr int kMigrateEvery = 2;      // generations
constexpr const char* kAuthors[] = {"builtin", "llm", "hybrid"};
constexpr const char* kModes[] = {"translate", "optimize", "auto"};

std::string shortened(const std::string& detail) {
  return detail.size() <= kMostDetail ? detail : detail.substr(0, kMostDetail) + "\n[cut]";
}

Json named(const char* name) { return Json::object().set("event", name); }

/// An outcome, as the journal has it.
struct StoredOutcome {
  ports::Outcome outcome;
};

void fields(auto& v, StoredOutcome& s) {
  ports::Outcome& o = s.outcome;
  v("us", o.us)("measured", o.measured)("at_least", o.is_lower_bound)("refused", o.refused);
  v("detail", o.detail, Zero::Omit)("bound", o.bound)("occupancy", o.occupancy);
  v("methods", o.methods);
}

Json seen_json(ports::Outcome seen) {
  seen.detail = shortened(seen.detail);
  Json json = record_json(StoredOutcome{seen});
  if (const auto fingerprint = fingerprint_of(seen.code)) json.set("print", to_hex(*fingerprint));
  return json;
}

ports::Outcome seen_from(const Json& json) { return read_record<StoredOutcome>(json).outcome; }

}  // namespace

const std::vector<std::string>& builtin_operators() {
  static const std::vector<std::string> kNames = {"tune", "schedule", "cross", "simplify"};
  return kNames;
}

const char* authors_name(Authors authors) { return kAuthors[static_cast<size_t>(authors)]; }
const char* mode_name(Mode mode) { return kModes[static_cast<size_t>(mode)]; }

State::State() { operators_.set_arms(builtin_operators()); }

Json State::begin_event(const Settings& settings) {
  JsonWriter v(named("begin"));
  v("generations", settings.generations)("proposals", settings.proposals);
  v("hardware", settings.hardware)("islands", settings.islands)("in_flight", settings.in_flight);
  v("proposer", settings.authors, kAuthors)("mode", settings.mode, kModes)("seed", settings.seed);
  v("arms", settings.arms)("measures", settings.has_clock)("verifier", settings.verifier);
  return v.take();
}

Json State::request_event(const ProposalRequest& request) {
  Json json = named("order");
  const Json body = to_json(request);
  for (const auto& [name, value] : body.members()) json.set(name, value);
  return json;
}

Json State::proposal_event(const ProposalRequest& request, const Proposal& proposal) {
  JsonWriter v(named("offer"));
  v("order", request.number)("arm", request.arm);
  v("id", proposal.candidate ? Json(proposal.candidate->id) : Json());
  v("made_by", proposal.candidate ? Json(proposal.candidate->stage) : Json());
  v("problem", proposal.problem)("trouble", static_cast<int64_t>(proposal.failure));
  v("usd", proposal.usd);
  return v("exhausted", proposal.exhausted).take();
}

Json State::seen_event(const std::string& id, const Vote& vote) {
  JsonWriter v(named("seen"));
  v("id", id)("score", vote.score)("usd", vote.usd)("reading", true, When{vote.reading});
  return v("seen", seen_json(vote.seen)).take();
}

Json State::read_event(const Review& reading) {
  JsonWriter v(named("read"));
  v("id", reading.id)("score", reading.score)("refused", reading.refused);
  return v("detail", shortened(reading.detail))("usd", reading.usd).take();
}

Json State::chosen_event(const std::vector<std::string>& ids) {
  return named("chosen").set("ids", json_of(ids));
}

Json State::judged_event(const std::string& id, const ports::Outcome& seen) {
  return named("judged").set("id", id).set("seen", seen_json(seen));
}

Json State::generation_event(int generation) {
  return named("generation").set("generation", generation);
}

Json State::end_event(const std::string& why) { return named("end").set("why", why); }

void State::apply(const Json& event, const FindCandidate& find) {
  const std::string& name = event["event"].as_string();
  if (name == "begin") {
    begin(event);
  } else if (name == "order") {
    requested(request_from_json(event));
  } else if (name == "offer") {
    proposed(event, find);
  } else if (name == "seen") {
    seen(event);
  } else if (name == "read") {
    read(event);
  } else if (name == "chosen") {
    if (chosen_)
      return misfits_.note(
          fmt::format("the choice of generation {} is recorded twice", generation_));
    chosen_ = value_of<std::vector<std::string>>(event["ids"]);
  } else if (name == "judged") {
    judged(event);
  } else if (name == "generation") {
    const int64_t ended = event["generation"].as_int(-1);
    if (!misfits_.follows("generation", ended, generation_)) return;
    generation_ = static_cast<int>(ended) + 1;
    retired_now_ = 0;
    chosen_.reset();
    if (islands_ > 1 && generation_ % kMigrateEvery == 0) archive_.migrate(islands_);
  }
}

// Requests to models that are no longer asked are dropped; all statistics stay.
void State::begin(const Json& event) {
  const std::vector<std::string> arms = value_of<std::vector<std::string>>(event["arms"]);
  if (sessions_++ > 0) {
    const std::vector<std::string> before = value_of<std::vector<std::string>>(settings_["arms"]);
    for (const std::string& arm : before) {
      if (!contains(arms, arm)) changes_.push_back("no longer asked: " + arm);
    }
    for (const std::string& arm : arms) {
      if (!contains(before, arm)) changes_.push_back("asked now: " + arm);
    }
    for (const char* what : {"proposer", "mode", "hardware", "islands", "verifier", "measures"}) {
      const std::string was = settings_[what].dump(), now = event[what].dump();
      if (was != now) changes_.push_back(fmt::format("{} was {}, is {}", what, was, now));
    }
  }
  settings_ = event;
  models_.set_arms(arms);
  islands_ = static_cast<int>(std::clamp<int64_t>(event["islands"].as_int(1), 1, kMostIslands));
  // Estimates and measured times do not belong on one curve.
  if (has_clock_ != event["measures"].as_bool()) {
    curve_.clear();
    first_.clear();
  }
  has_clock_ = event["measures"].as_bool();
  exhausted_ = false;
  std::deque<ProposalRequest> kept;
  for (const ProposalRequest& request : in_flight_) {
    // The earlier session has sent this request, and its cost is unknown.
    if (!request.arm.empty()) unpriced_ += cut_off_.insert(request.number).second;
    if (!request.arm.empty() && !models_.knows(request.arm)) {
      retire();
      continue;
    }
    models_.begin(request.arm);
    kept.push_back(request);
  }
  in_flight_ = std::move(kept);
}

void State::requested(const ProposalRequest& request) {
  if (!misfits_.follows("request", request.number, next_request_)) return;
  in_flight_.push_back(request);
  next_request_ = std::max(next_request_, request.number + 1);
  if (!request.arm.empty()) models_.begin(request.arm);
}

void State::proposed(const Json& event, const FindCandidate& find) {
  const auto at = std::ranges::find(in_flight_, event["order"].as_int(), &ProposalRequest::number);
  if (at == in_flight_.end())
    return misfits_.note(
        fmt::format("an answer to request {} is recorded twice, or its request is missing; "
                    "it is ignored",
                    event["order"].as_int(-1)));
  const auto last = static_cast<int64_t>(ModelFailure::Budget);
  if (event["trouble"].as_int() < 0 || event["trouble"].as_int() > last)
    return misfits_.note(fmt::format("the answer to request {} is unreadable; it is ignored",
                                     event["order"].as_int()));
  if (unseen_) misfits_.note(fmt::format("the screening of {} is missing", *unseen_));
  const ProposalRequest request = *at;
  in_flight_.erase(at);
  const std::string& id = event["id"].as_string();
  const auto failure = static_cast<ModelFailure>(event["trouble"].as_int());
  std::optional<double> usd;
  if (event["usd"].is_number()) usd = event["usd"].as_double();
  if (!request.arm.empty()) {
    if (failure == ModelFailure::None)
      models_.answered(request.arm, !id.empty(), usd);
    else
      models_.failed(request.arm, failure, event["problem"].as_string(), request.number, usd);
    usd_ += usd.value_or(0);
    unpriced_ += !usd;
  } else if (request.op != Operator::Guess) {
    operators_.answered(operator_name(request.op), !id.empty(), 1.0);
  }
  exhausted_ = exhausted_ || event["exhausted"].as_bool();
  if (request.op == Operator::Repair && !request.parents.empty()) {
    if (Entry* parent = archive_.find(request.parents.front())) ++parent->repairs;
  }
  std::optional<record::Candidate> candidate;
  if (!id.empty()) candidate = find(id);
  // A known candidate counts like none.
  if (candidate && archive_.add(*candidate, request))
    unseen_ = id;
  else
    retire();
}

void State::retire() {
  ++retired_;
  ++retired_now_;
}

void State::seen(const Json& event) {
  const std::string& id = event["id"].as_string();
  if (!archive_.contains(id)) return;  // its files are damaged, which the run folder tells
  if (unseen_ != id)
    return misfits_.note(
        fmt::format("the screening of {} is recorded twice; the later one is ignored", id));
  unseen_.reset();
  retire();
  if (event["usd"].is_number()) usd_ += event["usd"].as_double();
  const Entry* best = archive_.best();
  const double before = best == nullptr ? 0 : best->outcome.us;
  archive_.add_screening(id, seen_from(event["seen"]), event["score"].as_double(1),
                         fingerprint_from_hex(event["seen"]["print"].as_string()));
  if (event["reading"].as_bool()) unread_.push_back(id);
  const Entry& entry = *archive_.find(id);
  if (!has_clock_ && entry.ranked()) reward(entry, before);
  note_best();
}

void State::read(const Json& event) {
  const std::string& id = event["id"].as_string();
  if (std::erase(unread_, id) == 0 && archive_.contains(id))
    return misfits_.note(
        fmt::format("the review of {} is recorded twice; the later one is ignored", id));
  if (event["usd"].is_number())
    usd_ += event["usd"].as_double();
  else
    ++unpriced_;
  if (!archive_.contains(id)) return;
  archive_.read(id, event["score"].as_double(1), event["refused"].as_string(),
                event["detail"].as_string());
  note_best();
}

void State::judged(const Json& event) {
  const std::string& id = event["id"].as_string();
  if (!archive_.contains(id)) return;
  if (archive_.find(id)->judged)
    return misfits_.note(fmt::format("{} is judged twice; the later verdict is ignored", id));
  if (!chosen_ || !contains(*chosen_, id))
    misfits_.note(fmt::format("{} is judged, but the event that chose it is missing", id));
  const Entry* best = archive_.best();
  const bool counts = best != nullptr && best->outcome.measured == has_clock_;
  const double before = counts ? best->outcome.us : 0;
  const bool was = !has_clock_ && archive_.find(id)->ranked();
  archive_.judged(id, seen_from(event["seen"]));
  const Entry& entry = *archive_.find(id);
  if (!was && entry.ranked()) reward(entry, before);
  note_best();
}

void State::reward(const Entry& entry, double before) {
  const double us = entry.outcome.us;
  const double gain = before > 0 && us < kBetter * before && !entry.outcome.is_lower_bound
                          ? std::log(before / us)
                          : 0;
  if (!entry.request.arm.empty())
    models_.reward(entry.request.arm, gain);
  else
    operators_.reward(operator_name(entry.request.op), gain);
}

// A candidate that was refused later is removed from the curve.
void State::forget_refused() {
  const auto refused = [this](const std::string& id) {
    const Entry* entry = archive_.find(id);
    return entry != nullptr && !entry->alive();
  };
  std::erase_if(curve_, [&](const Point& point) { return refused(point.id); });
  if (refused(first_)) first_ = curve_.empty() ? "" : curve_.front().id;
}

void State::note_best() {
  forget_refused();
  const Entry* best = archive_.best();
  if (best == nullptr || best->outcome.measured != has_clock_) return;
  if (first_.empty()) first_ = best->candidate.id;
  const bool changed = curve_.empty() || curve_.back().id != best->candidate.id ||
                       curve_.back().us != best->outcome.us;
  if (changed)
    curve_.push_back(
        {retired_, best->candidate.id, best->outcome.us, best->outcome.measured, usd_});
}

}  // namespace kw::evolve
