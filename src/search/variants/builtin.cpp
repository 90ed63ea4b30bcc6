// The problem: a module can have thousands of assignments to its tunables, and a task has many
// designs. Trying all is too slow, so the proposer works in three steps. First comes the best guess
// of every recipe. Then come neighbours (one tunable changed) and children (tunables and choices of
// two parents) of the best four candidates. Last comes the rest, in an order set by the seed. A
// random order alone would be simpler but would ignore what the archive has learnt. The cost: at
// most 4096 assignments per module and 64 crossed recipes are considered.
#include "variants/builtin.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/hash.h"
#include "core/text.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"

namespace kw::variants {
namespace {

constexpr size_t kMostAssignments = 4096;  // of one module's tunables
constexpr size_t kBeam = 4;                // parents at a time
constexpr size_t kMostCrossed = 64;        // recipes made by crossing others
constexpr uint64_t kMixes = 4;             // children of the same two parents

class NoProposer : public halving::Proposer {
 public:
  std::string name() const override { return "none"; }
  Result<std::vector<record::Candidate>> propose(size_t, const halving::Archive&) override {
    return std::vector<record::Candidate>{};
  }
};

/// A bug in code generation disables this recipe only.
Result<std::string> written(const Recipe& recipe) {
  try {
    return recipe.text();
  } catch (const Bug& bug) {
    return Error{Blame::Bug, bug.what()};
  }
}

bool offered(const std::vector<record::Candidate>& out, const std::string& id) {
  return std::ranges::any_of(out, [&](const record::Candidate& one) { return one.id == id; });
}

}  // namespace

Builtin::Builtin(std::vector<Recipe> recipes, uint64_t seed, RecipeNamed named)
    : recipes_(std::move(recipes)),
      named_(std::move(named)),
      spaces_(recipes_.size()),
      seed_(seed) {
  for (size_t i = 0; i < recipes_.size(); ++i) {
    by_name_.emplace(recipes_[i].name, i);
    for (std::string& choice : split(recipes_[i].name, ' ')) choices_.insert(std::move(choice));
  }
}

Builtin::~Builtin() = default;

Status Builtin::make(size_t recipe) {
  Space& space = spaces_[recipe];
  if (space.made) return Done{};
  space.made = true;
  Result<std::string> text = written(recipes_[recipe]);
  if (!text) {
    if (text.error().blame != Blame::Bug) return std::move(text).error();
    problems_.push_back(recipes_[recipe].name + ": " + text.error().message);
    return Done{};
  }
  space.text = std::move(text).value();
  const kernel::ParseOutcome parsed = kernel::parse(space.text, "module.cu");
  if (!parsed.module) {
    problems_.push_back(
        recipes_[recipe].name + ": " +
        cuda_source::render_diagnostics(parsed.diagnostics, space.text, "module.cu"));
    return Done{};
  }
  space.assignments = kernel::tune_space(*parsed.module, kMostAssignments);
  for (const kernel::TuneDecl& tune : parsed.module->tunes) space.axes[tune.name] = tune.values;
  for (size_t i = 1; i < space.assignments.size(); ++i) space.shuffled.push_back(i);
  Random random(hash64(recipes_[recipe].name, seed_));
  for (size_t i = space.shuffled.size(); i > 1; --i)
    std::swap(space.shuffled[i - 1], space.shuffled[random.below(i)]);
  return Done{};
}

record::Candidate Builtin::candidate(size_t recipe, const Assignment& tunes,
                                     std::vector<std::string> parents) const {
  return record::make_candidate(spaces_[recipe].text, tunes, name(), recipes_[recipe].name,
                                std::move(parents));
}

Status Builtin::propose_guesses(size_t count, const halving::Archive& archive,
                                std::vector<record::Candidate>& out) {
  while (out.size() < count && next_guess_ < recipes_.size()) {
    const size_t recipe = next_guess_++;
    KW_TRY(make(recipe));
    if (spaces_[recipe].assignments.empty()) continue;
    record::Candidate guess = candidate(recipe, spaces_[recipe].assignments.front(), {});
    if (!archive.contains(guess.id) && !offered(out, guess.id)) out.push_back(std::move(guess));
  }
  return Done{};
}

Result<std::vector<record::Candidate>> Builtin::neighbours(const halving::Entry& parent,
                                                           const halving::Archive& archive) {
  const std::optional<size_t> recipe = KW_TRY(find_recipe(parent.candidate.origin));
  if (!recipe) return std::vector<record::Candidate>{};
  const Space& space = spaces_[*recipe];
  const std::set<Assignment> legal(space.assignments.begin(), space.assignments.end());
  std::vector<std::pair<size_t, record::Candidate>> found;  // each with its distance
  for (const auto& [axis, values] : space.axes) {
    const auto set = parent.candidate.tunes.find(axis);
    if (set == parent.candidate.tunes.end()) continue;
    const auto at = std::ranges::find(values, set->second) - values.begin();
    for (size_t i = 0; i < values.size(); ++i) {
      Assignment changed = parent.candidate.tunes;
      changed[axis] = values[i];
      if (changed == parent.candidate.tunes || legal.count(changed) == 0) continue;
      record::Candidate made = candidate(*recipe, changed, {parent.candidate.id});
      const auto distance = static_cast<size_t>(std::abs(static_cast<long>(i) - at));
      if (!archive.contains(made.id)) found.emplace_back(distance, std::move(made));
    }
  }
  // Ties in distance are broken by a hash of the seed.
  std::ranges::stable_sort(found, {}, [&](const auto& one) {
    return std::pair(one.first, hash64(one.second.id, seed_));
  });
  std::vector<record::Candidate> out;
  for (auto& [distance, made] : found) out.push_back(std::move(made));
  return out;
}

// An unknown name is a crossed recipe if all its choices are known; it is then added.
Result<std::optional<size_t>> Builtin::find_recipe(const std::string& name) {
  auto known = by_name_.find(name);
  if (known == by_name_.end()) {
    const std::vector<std::string> choices = split(name, ' ');
    const bool ours = std::ranges::all_of(
        choices, [&](const std::string& choice) { return choices_.count(choice) > 0; });
    if (!named_ || !ours || crossed_ >= kMostCrossed) return std::optional<size_t>();
    ++crossed_;
    known = by_name_.emplace(name, recipes_.size()).first;
    recipes_.push_back(named_(name));
    spaces_.emplace_back();
  }
  KW_TRY(make(known->second));
  return std::optional(known->second);
}

Result<std::optional<size_t>> Builtin::crossed_recipe(const std::string& one,
                                                      const std::string& other) {
  const std::vector<std::string> ours = split(one, ' '), theirs = split(other, ' ');
  std::vector<std::string> mixed = ours;
  if (ours.size() != theirs.size()) return std::optional<size_t>();
  bool turn = false;
  for (size_t k = 0; k < ours.size(); ++k) {
    const std::string kernel = ours[k].substr(0, ours[k].find('='));
    if (theirs[k].substr(0, theirs[k].find('=')) != kernel) return std::optional<size_t>();
    if (ours[k] == theirs[k]) continue;
    if (turn) mixed[k] = theirs[k];
    turn = !turn;
  }
  return find_recipe(join(mixed, " "));
}

// Each tunable has the value of one parent or the other. If neither has it, the best guess stays.
void Builtin::mix(size_t recipe, const halving::Entry& one, const halving::Entry& other,
                  const halving::Archive& archive, std::vector<record::Candidate>& out) const {
  const Space& space = spaces_[recipe];
  if (space.assignments.empty()) return;
  const std::set<Assignment> legal(space.assignments.begin(), space.assignments.end());
  for (uint64_t turn = 0; turn < kMixes; ++turn) {
    Assignment mixed = space.assignments.front();
    for (auto& [axis, value] : mixed) {
      const bool ours = hash64(axis, seed_ + turn) % 2 == 0;
      for (const halving::Entry* parent : {ours ? &other : &one, ours ? &one : &other}) {
        const auto has = parent->candidate.tunes.find(axis);
        if (has != parent->candidate.tunes.end()) value = has->second;
      }
    }
    if (legal.count(mixed) == 0) continue;
    record::Candidate made = candidate(recipe, mixed, {one.candidate.id, other.candidate.id});
    if (!archive.contains(made.id) && !offered(out, made.id)) out.push_back(std::move(made));
  }
}

Result<std::vector<record::Candidate>> Builtin::children(
    const std::vector<const halving::Entry*>& parents, const halving::Archive& archive) {
  std::vector<record::Candidate> out;
  for (size_t i = 0; i < parents.size(); ++i) {
    for (size_t k = i + 1; k < parents.size(); ++k) {
      const auto recipe =
          KW_TRY(crossed_recipe(parents[i]->candidate.origin, parents[k]->candidate.origin));
      if (recipe) mix(*recipe, *parents[i], *parents[k], archive, out);
    }
  }
  return out;
}

Status Builtin::propose_offspring(size_t count, const halving::Archive& archive,
                                  std::vector<record::Candidate>& out) {
  if (out.size() >= count) return Done{};
  const std::vector<const halving::Entry*> parents = archive.beam(kBeam);
  std::vector<std::vector<record::Candidate>> families;
  for (const halving::Entry* parent : parents)
    families.push_back(KW_TRY(neighbours(*parent, archive)));
  families.push_back(KW_TRY(children(parents, archive)));
  // In turn, so that no single parent fills the batch.
  for (size_t turn = 0; out.size() < count; ++turn) {
    bool any = false;
    for (const std::vector<record::Candidate>& family : families) {
      if (turn >= family.size()) continue;
      any = true;
      if (out.size() < count && !offered(out, family[turn].id)) out.push_back(family[turn]);
    }
    if (!any) break;
  }
  return Done{};
}

// The untried assignments: from every recipe in turn, in an order set by the seed.
void Builtin::propose_rest(size_t count, const halving::Archive& archive,
                           std::vector<record::Candidate>& out) {
  bool any = true;
  while (out.size() < count && any) {
    any = false;
    for (size_t recipe = 0; recipe < spaces_.size() && out.size() < count; ++recipe) {
      Space& space = spaces_[recipe];
      while (space.next < space.shuffled.size()) {
        any = true;
        record::Candidate made =
            candidate(recipe, space.assignments[space.shuffled[space.next++]], {});
        if (archive.contains(made.id) || offered(out, made.id)) continue;
        out.push_back(std::move(made));
        break;
      }
    }
  }
}

Result<std::vector<record::Candidate>> Builtin::propose(size_t count,
                                                        const halving::Archive& archive) {
  std::vector<record::Candidate> out;
  KW_TRY(propose_guesses(count, archive, out));
  KW_TRY(propose_offspring(count, archive, out));
  propose_rest(count, archive, out);
  return out;
}

Result<std::unique_ptr<Builtin>> builtin_proposer(const task::Task& task,
                                                  const generate::Options& options, uint64_t seed) {
  const auto recipe = [&task, options](const generate::Design& design) {
    return Recipe{generate::design_text(design),
                  [&task, design, options] { return generate::generate(task, design, options); }};
  };
  std::vector<Recipe> recipes;
  for (const generate::Design& design : KW_TRY(generate::designs(task, options)))
    recipes.push_back(recipe(design));
  const auto named = [recipe](const std::string& name) {
    generate::Design design;
    for (const std::string& choice : split(name, ' ')) {
      const size_t equals = choice.find('=');
      design.choices.push_back({choice.substr(0, equals), choice.substr(equals + 1)});
    }
    return recipe(design);
  };
  return std::make_unique<Builtin>(std::move(recipes), seed, named);
}

std::unique_ptr<halving::Proposer> no_proposer() { return std::make_unique<NoProposer>(); }

}  // namespace kw::variants
