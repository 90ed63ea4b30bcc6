// Many gains come from other values and other schedules, and these need no model. Each operator
// lists candidates in the order to try them, and the first new one is the proposal. Random numbers
// come from the request's number and the seed, so a resumed run makes the same proposals. If an
// operator has no new candidate, the others are tried, and last any untried assignment. So the
// search ends only when no candidate is left. A proposer with state of its own would find new
// candidates faster, but could not be resumed from the journal. The cost: candidates are listed
// again for each request, up to 4096 per module.
#include "evolve/mutator.h"

#include <algorithm>

#include "core/check.h"
#include "core/contains.h"
#include "core/hash.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"

namespace kw::evolve {
namespace {

constexpr size_t kMostValues = 4096;  // assignments of one module's tunables
constexpr const char* kSwitches = " switches";
constexpr const char* kItself = "the module itself";

template <typename T>
void shuffle(std::vector<T>& list, Random& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

/// "a=x b=y" as pairs; empty when it is not a design.
std::vector<std::pair<std::string, std::string>> choices_of(const std::string& name) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const std::string& word : split(name, ' ')) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return {};
    list.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return list;
}

std::string name_of(const std::vector<std::pair<std::string, std::string>>& choices) {
  std::vector<std::string> words;
  for (const auto& [kernel, schedule] : choices) words.push_back(kernel + "=" + schedule);
  return join(words, " ");
}

bool same_kernels(const std::vector<std::pair<std::string, std::string>>& one,
                  const std::vector<std::pair<std::string, std::string>>& other) {
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i].first != other[i].first) return false;
  }
  return true;
}

std::string bare_design(const std::string& origin) {
  return origin.ends_with(kSwitches)
             ? origin.substr(0, origin.size() - std::string(kSwitches).size())
             : origin;
}

}  // namespace

Designs::~Designs() = default;

const Mutator::Space& Mutator::space_of_text(const std::string& text) {
  std::unique_ptr<Space>& space = spaces_[text];
  if (space != nullptr) return *space;
  space = std::make_unique<Space>();
  space->text = text;
  kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return *space;
  space->module = std::move(parsed.module);
  space->values = kernel::tune_space(*space->module, kMostValues);
  space->legal = {space->values.begin(), space->values.end()};
  return *space;
}

// A bug in code generation disables this design only.
Result<const Mutator::Space*> Mutator::space_of_design(const std::string& name, bool switches) {
  const std::string key = name + (switches ? kSwitches : "");
  auto known = texts_.find(key);
  if (known == texts_.end()) {
    Result<std::string> text = [&]() -> Result<std::string> {
      try {
        return designs_.text(name, switches);
      } catch (const Bug& bug) {
        return Error{Blame::Bug, bug.what()};
      }
    }();
    if (!text && text.error().blame == Blame::Environment) return std::move(text).error();
    // A mixture of choices may be impossible; a design of the list must work, so report it.
    const auto& names = designs_.names();
    if (!text && contains(names, name)) problems_.push_back(name + ": " + text.error().message);
    known = texts_.emplace(key, text ? std::move(text).value() : std::string()).first;
  }
  if (known->second.empty()) return static_cast<const Space*>(nullptr);
  const Space& space = space_of_text(known->second);
  return space.values.empty() ? nullptr : &space;
}

std::optional<Mutator::ParentPoint> Mutator::parent_point(const Entry& entry) {
  const Space& space = space_of_text(entry.candidate.text);
  if (space.values.empty()) return std::nullopt;
  ParentPoint parent_point{&space, entry.candidate.origin, space.values.front()};
  for (const auto& [name, value] : entry.candidate.tunes) {
    if (parent_point.tunes.count(name) > 0) parent_point.tunes[name] = value;
  }
  return parent_point;
}

record::Candidate Mutator::made(const Space& space, const std::string& origin, const Values& values,
                                std::vector<std::string> parents) {
  return record::make_candidate(space.text, values, "builtin", origin, std::move(parents));
}

Mutator::Values Mutator::carried(const Space& space, const Values& from) {
  Values values = space.values.front();
  for (auto& [name, value] : values) {
    const auto has = from.find(name);
    if (has == from.end()) continue;
    Values changed = values;
    changed[name] = has->second;
    if (space.legal.count(changed) > 0) value = has->second;
  }
  return values;
}

// Generates designs only until one gives a new candidate.
Result<Mutator::Candidates> Mutator::guesses(const Population& archive) {
  Candidates list;
  for (const std::string& name : designs_.names()) {
    const Space* space = KW_TRY(space_of_design(name, false));
    if (space == nullptr) continue;
    list.push_back(made(*space, name, space->values.front(), {}));
    if (first_new({list.back()}, archive)) break;
  }
  return list;
}

// Changes one tunable, nearest values first; in a quarter of the cases up to two at once.
Mutator::Candidates Mutator::tuned(const Entry& parent, Random& random) {
  const std::optional<ParentPoint> at = parent_point(parent);
  if (!at) return {};
  const bool leap = random.below(4) == 0;
  const uint64_t shuffle = random.next();
  std::vector<std::pair<std::pair<size_t, uint64_t>, record::Candidate>> found;
  for (const Values& values : at->space->values) {
    size_t axes = 0, steps = 0;
    for (const kernel::TuneDecl& tune : at->space->module->tunes) {
      const int64_t from = at->tunes.at(tune.name), to = values.at(tune.name);
      if (from == to) continue;
      ++axes;
      const auto place = [&](int64_t value) {
        return std::ranges::find(tune.values, value) - tune.values.begin();
      };
      steps += static_cast<size_t>(std::abs(place(from) - place(to)));
    }
    if (axes != 1 && !(leap && axes == 2)) continue;
    record::Candidate one = made(*at->space, at->origin, values, {parent.candidate.id});
    const size_t near = leap ? 0 : steps;
    found.push_back({{near, hash64(one.id, shuffle)}, std::move(one)});
  }
  std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
  Candidates list;
  for (auto& [key, one] : found) list.push_back(std::move(one));
  return list;
}

// Other choices for one kernel and more switches first, then all designs.
Result<Mutator::Candidates> Mutator::rescheduled(const Entry& parent, Random& random) {
  const auto choices = choices_of(bare_design(parent.candidate.origin));
  const bool ours = !choices.empty() && parent.candidate.model.empty();
  std::vector<std::pair<std::string, bool>> wanted;  // name, and whether with switches
  std::vector<std::string> names = designs_.names();
  shuffle(names, random);
  for (size_t k = 0; ours && k < choices.size(); ++k) {
    for (const std::string& name : names) {
      const auto theirs = choices_of(name);
      if (!same_kernels(choices, theirs) || theirs[k] == choices[k]) continue;
      auto changed = choices;
      changed[k] = theirs[k];
      wanted.emplace_back(name_of(changed), false);
    }
  }
  shuffle(wanted, random);
  if (ours)
    wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(1, wanted.size())),
                  {bare_design(parent.candidate.origin), true});
  for (const std::string& name : names) wanted.emplace_back(name, false);
  const std::optional<ParentPoint> at = parent_point(parent);
  Candidates list;
  std::set<std::pair<std::string, bool>> seen;
  for (const auto& [name, switches] : wanted) {
    if (!seen.insert({name, switches}).second) continue;
    const Space* space = KW_TRY(space_of_design(name, switches));
    if (space == nullptr) continue;
    const std::string origin = name + (switches ? kSwitches : "");
    if (at) list.push_back(made(*space, origin, carried(*space, at->tunes), {parent.candidate.id}));
    list.push_back(made(*space, origin, space->values.front(), {parent.candidate.id}));
  }
  return list;
}

// Takes schedules and tunables from one parent or the other at random.
Result<Mutator::Candidates> Mutator::crossed(const Entry& one, const Entry& other, Random& random) {
  const std::optional<ParentPoint> ours = parent_point(one), theirs = parent_point(other);
  if (!ours || !theirs) return Candidates{};
  std::vector<std::pair<const Space*, std::string>> bodies;
  const auto first = choices_of(bare_design(one.candidate.origin)),
             second = choices_of(bare_design(other.candidate.origin));
  const bool generated = one.candidate.model.empty() && other.candidate.model.empty();
  if (generated && !first.empty() && same_kernels(first, second) && first != second) {
    auto mixed = first;
    for (size_t k = 0; k < mixed.size(); ++k) {
      if (random.below(2) == 1) mixed[k] = second[k];
    }
    const std::string name = name_of(mixed);
    if (const Space* space = KW_TRY(space_of_design(name, false))) bodies.emplace_back(space, name);
  }
  bodies.emplace_back(ours->space, ours->origin);
  bodies.emplace_back(theirs->space, theirs->origin);
  Candidates list;
  for (const auto& [space, origin] : bodies) {
    for (int turn = 0; turn < 4; ++turn) {
      Values mixed = ours->tunes;
      for (const auto& [name, value] : theirs->tunes) {
        if (mixed.count(name) == 0 || random.below(2) == 1) mixed[name] = value;
      }
      list.push_back(
          made(*space, origin, carried(*space, mixed), {one.candidate.id, other.candidate.id}));
    }
  }
  return list;
}

// Without one of its methods, or with one tunable at its smallest value.
Mutator::Candidates Mutator::simplified(const Entry& parent, Random& random) {
  const std::optional<ParentPoint> at = parent_point(parent);
  if (!at) return {};
  std::vector<Values> plainer;
  const std::string chosen = kernel::with_tunes(at->space->text, at->tunes);
  if (const kernel::ParseOutcome parsed = kernel::parse(chosen, "module.cu"); parsed.module) {
    for (const std::string& method : kernel::active_methods(*parsed.module, at->tunes)) {
      const auto off = kernel::without_method(*parsed.module, method);
      if (off) plainer.push_back(off->tunes);
    }
  }
  for (const kernel::TuneDecl& tune : at->space->module->tunes) {
    Values values = at->tunes;
    values[tune.name] = *std::ranges::min_element(tune.values);
    plainer.push_back(std::move(values));
  }
  shuffle(plainer, random);
  Candidates list;
  for (const Values& values : plainer) {
    if (values != at->tunes && at->space->legal.count(values) > 0)
      list.push_back(made(*at->space, at->origin, values, {parent.candidate.id}));
  }
  return list;
}

// Any untried assignment, in a random order.
Result<std::optional<record::Candidate>> Mutator::anything(Random& random,
                                                           const Population& archive) {
  std::vector<std::pair<const Space*, std::string>> spaces;
  for (const std::string& name : designs_.names()) {
    const Space* space = KW_TRY(space_of_design(name, false));
    if (space != nullptr) spaces.emplace_back(space, name);
  }
  for (const Entry* entry : archive.ranked()) {
    if (entry->candidate.model.empty()) continue;
    const std::optional<ParentPoint> at = parent_point(*entry);
    if (at) spaces.emplace_back(at->space, at->origin.empty() ? kItself : at->origin);
  }
  shuffle(spaces, random);
  for (const auto& [space, origin] : spaces) {
    const size_t begin = random.below(space->values.size());
    for (size_t i = 0; i < space->values.size(); ++i) {
      const Values& values = space->values[(begin + i) % space->values.size()];
      record::Candidate one = made(*space, origin, values, {});
      if (!archive.contains(one.id) && proposed_.count(one.id) == 0) return std::optional(one);
    }
  }
  return std::optional<record::Candidate>();
}

std::optional<record::Candidate> Mutator::first_new(const Candidates& list,
                                                    const Population& archive) const {
  for (const record::Candidate& one : list) {
    if (!archive.contains(one.id) && proposed_.count(one.id) == 0) return one;
  }
  return std::nullopt;
}

Result<Mutator::Candidates> Mutator::by(Operator op, const ProposalRequest& request,
                                        const Population& archive, Random& random) {
  if (op == Operator::Guess) return guesses(archive);
  const Entry* parent =
      request.parents.empty() ? archive.best() : archive.find(request.parents.front());
  if (parent == nullptr) return Candidates{};
  switch (op) {
    case Operator::Tune:
      return tuned(*parent, random);
    case Operator::Schedule:
      return rescheduled(*parent, random);
    case Operator::Simplify:
      return simplified(*parent, random);
    case Operator::Cross:
      break;
    default:
      return Candidates{};
  }
  const Entry* other =
      request.parents.size() > 1 ? archive.find(request.parents[1]) : archive.partner(*parent);
  if (other == nullptr) return Candidates{};
  return crossed(*parent, *other, random);
}

Result<std::optional<record::Candidate>> Mutator::mutate(const ProposalRequest& request,
                                                         const Population& archive) {
  Random random(hash64(std::to_string(request.number), seed_));
  std::vector<Operator> tries = {request.op};
  for (const Operator op :
       {Operator::Tune, Operator::Cross, Operator::Schedule, Operator::Simplify, Operator::Guess}) {
    if (op != request.op) tries.push_back(op);
  }
  std::optional<record::Candidate> found;
  Operator used = request.op;
  for (size_t i = 0; i < tries.size() && !found; ++i) {
    used = tries[i];
    found = first_new(KW_TRY(by(used, request, archive, random)), archive);
  }
  if (!found) {
    used = Operator::Tune;
    found = KW_TRY(anything(random, archive));
  }
  if (!found) return found;
  return std::optional(proposal_of(*found, used, archive));
}

// A model's text stays marked as the model's when its tunables change: only the judge can accept
// it.
record::Candidate Mutator::proposal_of(record::Candidate found, Operator used,
                                       const Population& archive) {
  found.stage = operator_name(used);
  for (const Entry& entry : archive.entries()) {
    if (!entry.candidate.model.empty() && entry.candidate.text == found.text)
      found.model = entry.candidate.model;
  }
  proposed_.insert(found.id);
  return found;
}

std::optional<record::Candidate> Mutator::tune(const ProposalRequest& request,
                                               const Population& archive) {
  Random random(hash64(std::to_string(request.number), seed_));
  const Entry* parent = request.parents.empty() ? nullptr : archive.find(request.parents.front());
  if (parent == nullptr) return std::nullopt;
  const auto found = first_new(tuned(*parent, random), archive);
  if (!found) return std::nullopt;
  return proposal_of(*found, Operator::Tune, archive);
}

}  // namespace kw::evolve
