// The problem: models answer in minutes and hardware must not wait for them. So the evolution is
// steady-state: request k is sent as soon as request k - n has been answered, where n is the number
// in flight. Its parents come from the archive at that time. Answers are taken in the sequence of
// their requests. Thus models and hardware work at the same time, and the same answers give the
// same journal, independent of the clock. Whole generations would be simpler, but the slowest model
// would delay all others. The cost: a request does not know the results of those still in flight,
// and a fast answer waits for the slower ones before it.
#include "evolve/evolution.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/check.h"
#include "core/contains.h"
#include "core/hash.h"
#include "core/random.h"
#include "core/text.h"

namespace kw::evolve {
namespace {

constexpr int kMostRepairs = 2;    // of one candidate
constexpr size_t kContext = 3;     // candidates shown besides the parents
constexpr int64_t kTuneEvery = 4;  // requests, when only models write
constexpr double kSpread = 1.5;    // an estimate above the best one times this is not measured

/// How often models are asked for each operator once a right kernel exists; the sum is 20.
struct Share {
  Operator op;
  size_t parts;
};
constexpr Share kShares[] = {{Operator::Diff, 7},
                             {Operator::Rewrite, 6},
                             {Operator::Cross, 3},
                             {Operator::Repair, 2},
                             {Operator::Simplify, 2}};

Operator drawn(Random& random) {
  size_t parts = 0;
  for (const Share& share : kShares) parts += share.parts;
  size_t at = random.below(parts);
  for (const Share& share : kShares) {
    if (at < share.parts) return share.op;
    at -= share.parts;
  }
  return Operator::Rewrite;
}

}  // namespace

Evolution::Evolution(Settings settings, Limits limits, Ports ports, State& state)
    : settings_(std::move(settings)), limits_(limits), ports_(std::move(ports)), state_(state) {
  KW_CHECK(settings_.proposals > 0 && settings_.hardware > 0 && settings_.islands > 0,
           "the reader of the settings has checked them");
}

void Evolution::report_progress(const std::string& what) const {
  if (ports_.watch) ports_.watch(state_, what);
}

Status Evolution::note(const Json& event) {
  KW_TRY(ports_.journal->append(kEvolveEvent, event));
  state_.apply(event, [this](const std::string& id) -> std::optional<record::Candidate> {
    if (fresh_ && fresh_->id == id) return fresh_;
    return ports_.find ? ports_.find(id) : std::nullopt;
  });
  return Done{};
}

// Until there is a kernel to make faster.
bool Evolution::translating() const { return state_.archive().best() == nullptr; }

bool Evolution::needs_model(int64_t number) const {
  if (!settings_.asks_models() || state_.models().all_gone()) return false;
  if (settings_.authors == Authors::Both) return state_.exhausted() || number % 2 == 1;
  // In this mode, models begin with a generated kernel.
  const bool start = settings_.mode == Mode::Optimize && number == 0;
  return !start;
}

void Evolution::request_builtin(ProposalRequest& request, Random& random) const {
  const Population& archive = state_.archive();
  const Entry* parent = archive.parent(random, request.island);
  if (parent == nullptr || request.number < settings_.proposals) {
    request.op = Operator::Guess;
    return;
  }
  request.op = operator_named(*state_.operators().choose(request.number)).value_or(Operator::Tune);
  request.parents = {parent->candidate.id};
  if (request.op != Operator::Cross) return;
  if (const Entry* other = archive.partner(*parent, request.island))
    request.parents.push_back(other->candidate.id);
}

void Evolution::request_from_model(ProposalRequest& request, Random& random) const {
  const Population& archive = state_.archive();
  request.arm = *state_.models().choose(request.number);
  const Entry* broken = archive.to_repair(kMostRepairs, request.island);
  if (translating()) {
    const bool repair = broken != nullptr && random.below(2) == 0;
    request.op = repair ? Operator::Repair : Operator::Translate;
    if (repair) request.parents = {broken->candidate.id};
    return;
  }
  request.op = drawn(random);
  if (request.op == Operator::Repair && broken == nullptr) request.op = Operator::Diff;
  const Entry* parent =
      request.op == Operator::Repair ? broken : archive.parent(random, request.island);
  request.parents = {parent->candidate.id};
  const Entry* other =
      request.op == Operator::Cross ? archive.partner(*parent, request.island) : nullptr;
  if (other != nullptr)
    request.parents.push_back(other->candidate.id);
  else if (request.op == Operator::Cross)
    request.op = Operator::Rewrite;
  for (const Entry* one : archive.top_and_diverse(kContext, request.island)) {
    if (!contains(request.parents, one->candidate.id)) request.context.push_back(one->candidate.id);
  }
}

// The prompt tells models that their tunables are searched, so every few requests one tries them.
const Entry* Evolution::to_tune(int64_t number, int island) const {
  if (settings_.authors != Authors::Models || number % kTuneEvery != kTuneEvery - 1) return nullptr;
  const Entry* best = state_.archive().best(island);
  return best != nullptr && !best->candidate.model.empty() ? best : nullptr;
}

ProposalRequest Evolution::next() const {
  ProposalRequest request;
  request.number = state_.next_request();
  request.generation = state_.generation();
  request.island = static_cast<int>(request.number % settings_.islands);
  Random random(hash64("order " + std::to_string(request.number), settings_.seed));
  if (const Entry* tunable = to_tune(request.number, request.island)) {
    request.op = Operator::Tune;
    request.parents = {tunable->candidate.id};
    request.only_this = true;
    return request;
  }
  if (needs_model(request.number))
    request_from_model(request, random);
  else
    request_builtin(request, random);
  return request;
}

Status Evolution::place() {
  const ProposalRequest request = next();
  KW_TRY(note(State::request_event(request)));
  return ports_.proposer->begin(request, state_.archive());
}

Status Evolution::look(const std::string& id) {
  const Entry* entry = state_.archive().find(id);
  KW_CHECK(entry != nullptr, "every returned candidate is in the archive");
  const Vote vote = KW_TRY(ports_.verifier->vote(entry->candidate));
  KW_TRY(note(State::seen_event(id, vote)));
  report_progress(vote.seen.refused.empty() ? "screened " + entry->candidate.origin
                                            : "refused: " + vote.seen.refused);
  return Done{};
}

Status Evolution::retire() {
  const ProposalRequest request = state_.in_flight().front();
  report_progress(fmt::format("request {}: {}{}", request.number + 1, operator_name(request.op),
                              request.arm.empty() ? "" : " by " + request.arm));
  Proposal proposal = KW_TRY(ports_.proposer->finish(request));
  if (proposal.candidate && state_.archive().contains(proposal.candidate->id)) {
    proposal.problem = "it was tried before: " + proposal.candidate->id;
    proposal.candidate.reset();
  }
  fresh_ = proposal.candidate;
  if (fresh_) KW_TRY(ports_.journal->keep(*fresh_));
  KW_TRY(note(State::proposal_event(request, proposal)));
  fresh_.reset();
  if (state_.unseen()) return look(std::string(*state_.unseen()));
  report_progress(proposal.problem);
  return Done{};
}

// The best unjudged candidates; the last place is for the most novel of the rest.
std::vector<std::string> Evolution::worth_running() const {
  std::vector<const Entry*> pool;
  double best = 0;
  for (const Entry& entry : state_.archive().entries()) {
    const bool counted = entry.alive() && entry.outcome.us > 0 && !entry.outcome.is_lower_bound;
    if (counted && !entry.outcome.measured && (best == 0 || entry.outcome.us < best))
      best = entry.outcome.us;
    // Without a clock, the judge adds nothing for generated code that has an estimate.
    const bool open =
        settings_.has_clock || !entry.candidate.model.empty() || entry.outcome.us == 0;
    if (entry.alive() && !entry.judged && entry.same_as.empty() && open) pool.push_back(&entry);
  }
  const bool only_right = translating();
  std::erase_if(pool, [&](const Entry* entry) {
    const bool hopeless = best > 0 && entry->outcome.us > kSpread * best;
    return !only_right && entry->candidate.model.empty() && hopeless;
  });
  std::ranges::stable_sort(pool, {}, [](const Entry* entry) {
    return std::tuple(-entry->score, entry->outcome.is_lower_bound, entry->outcome.us);
  });
  const auto most = static_cast<size_t>(settings_.hardware);
  if (pool.size() > most && most > 1) {
    const auto novel =
        std::ranges::max_element(pool.begin() + static_cast<std::ptrdiff_t>(most) - 1, pool.end(),
                                 {}, [](const Entry* entry) { return entry->novelty; });
    std::iter_swap(pool.begin() + static_cast<std::ptrdiff_t>(most) - 1, novel);
  }
  std::vector<std::string> ids;
  // The first candidate is the baseline, so it is judged even when it looks slow.
  const std::vector<Entry>& all = state_.archive().entries();
  const bool first = settings_.has_clock && state_.first().empty() && !all.empty();
  if (first && all.front().alive() && !all.front().judged) ids.push_back(all.front().candidate.id);
  for (const Entry* entry : pool) {
    const bool there = !ids.empty() && ids.front() == entry->candidate.id;
    if (ids.size() < most && !there) ids.push_back(entry->candidate.id);
  }
  return ids;
}

// Reviewers read while proposals come in; all must finish before the choice.
Status Evolution::collect_reviews() {
  const std::vector<Review> reviews = KW_TRY(ports_.verifier->opinions());
  for (const Review& review : reviews) {
    KW_TRY(note(State::read_event(review)));
    if (!review.refused.empty()) report_progress("refused: " + review.refused);
  }
  return Done{};
}

Status Evolution::hardware() {
  if (!state_.chosen()) KW_TRY(collect_reviews());
  if (!state_.chosen()) KW_TRY(note(State::chosen_event(worth_running())));
  // Generated candidates are timed together. Models' candidates are judged one by one and recorded
  // at once, because each takes long and no outcome should be lost.
  std::vector<std::vector<record::Candidate>> groups;
  std::vector<record::Candidate> generated;
  for (const std::string& id : *state_.chosen()) {
    const Entry* entry = state_.archive().find(id);
    if (entry == nullptr || entry->judged) continue;
    if (entry->candidate.model.empty())
      generated.push_back(entry->candidate);
    else
      groups.push_back({entry->candidate});
  }
  if (!generated.empty()) groups.push_back(std::move(generated));
  for (const std::vector<record::Candidate>& group : groups) {
    report_progress(fmt::format("judging {}", group.size()));
    const std::vector<ports::Outcome> seen =
        KW_TRY(ports_.judge->examine(group, ports::Depth::Time));
    KW_CHECK(seen.size() == group.size(), "one answer per candidate");
    for (size_t i = 0; i < seen.size(); ++i)
      KW_TRY(note(State::judged_event(group[i].id, seen[i])));
  }
  const int ended = state_.generation();
  KW_TRY(note(State::generation_event(ended)));
  report_progress(fmt::format("generation {} of {}", ended + 1, settings_.generations));
  return Done{};
}

std::optional<std::string> Evolution::reason_to_stop() const {
  const Entry* best = state_.archive().best();
  const bool counts = best != nullptr && best->outcome.measured == settings_.has_clock;
  if (settings_.mode == Mode::Translate && best != nullptr &&
      (best->judged || best->candidate.model.empty()))
    return "the first kernel that is right was found";
  if (counts && limits_.goal_us > 0 && best->outcome.us <= limits_.goal_us &&
      !best->outcome.is_lower_bound)
    return "the goal was reached";
  if (limits_.seconds > 0 && ports_.seconds && ports_.seconds() >= limits_.seconds)
    return "the time is up";
  const bool silent = settings_.asks_models() && state_.models().all_gone();
  if (settings_.authors == Authors::Models && silent) {
    std::string why;
    for (const ArmRecord& arm : state_.models().arms()) {
      if (state_.models().knows(arm.name))
        why += (why.empty() ? "" : "; ") + arm.name + ": " + arm.gone;
    }
    return "every model failed: " + why;
  }
  if (state_.exhausted() && (settings_.authors == Authors::Builtin || silent))
    return "no untried candidate is left";
  if (state_.next_request() >= settings_.requests())
    return settings_.generations == 1
               ? "the generation is done"
               : fmt::format("{} generations are done", settings_.generations);
  return std::nullopt;
}

Result<std::string> Evolution::run() {
  KW_TRY(note(State::begin_event(settings_)));
  for (const ProposalRequest& request : std::deque<ProposalRequest>(state_.in_flight()))
    KW_TRY(ports_.proposer->begin(request, state_.archive()));
  for (const std::string& id : std::vector<std::string>(state_.unread())) {
    if (const Entry* entry = state_.archive().find(id))
      ports_.verifier->read_again(entry->candidate);
  }
  if (state_.unseen()) KW_TRY(look(std::string(*state_.unseen())));
  const size_t most = settings_.asks_models() ? static_cast<size_t>(settings_.in_flight) : 1;
  std::optional<std::string> stop;
  while (true) {
    const bool full = state_.retired_now() >= settings_.proposals;
    // Models work while the hardware does; the operators without a model use its results first.
    if (full && most == 1) KW_TRY(hardware());
    if (!stop) stop = reason_to_stop();
    while (!stop && state_.in_flight().size() < most) {
      KW_TRY(place());
      stop = reason_to_stop();
    }
    if (full && most > 1) KW_TRY(hardware());
    if (state_.in_flight().empty()) {
      if (stop) break;
      continue;
    }
    KW_TRY(retire());
  }
  if (state_.retired_now() > 0) KW_TRY(hardware());
  // The last results may give a better reason than the number of requests.
  stop = reason_to_stop().value_or(*stop);
  KW_TRY(note(State::end_event(*stop)));
  return *stop;
}

}  // namespace kw::evolve
