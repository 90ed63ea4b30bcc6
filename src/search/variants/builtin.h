// The proposer without a model: the best guess of every design first, then neighbours and children
// of good candidates. The same archive and seed give the same proposals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/result.h"
#include "halving/proposer.h"
#include "plan/codegen.h"
#include "task/task.h"

namespace kw::variants {

/// One way to compute a task; its module is generated when first needed.
struct Recipe {
  std::string name;  // "rms_norm=block_per_row": one choice per kernel, separated by spaces
  std::function<Result<std::string>()> text;
};

/// Makes the recipe with this name from choices that other recipes have for the same kernels.
using RecipeNamed = std::function<Recipe(const std::string& name)>;

class Builtin : public halving::Proposer {
 public:
  /// Without `named`, only tunables are crossed, not recipes.
  Builtin(std::vector<Recipe> recipes, uint64_t seed, RecipeNamed named = {});
  ~Builtin() override;

  std::string name() const override { return "builtin"; }
  Result<std::vector<record::Candidate>> propose(size_t count,
                                                 const halving::Archive& archive) override;

  /// Recipes without a usable module, and why: a defect of code generation, never of the task.
  const std::vector<std::string>& problems() const { return problems_; }
  size_t recipes() const { return recipes_.size(); }

 private:
  using Assignment = std::map<std::string, int64_t>;
  /// The module of a recipe with every assignment that its `tune` lines allow.
  struct Space {
    bool made = false;
    std::string text;
    std::vector<Assignment> assignments;  // the first is the best guess; empty: unusable
    std::map<std::string, std::vector<int64_t>> axes;
    std::vector<size_t> shuffled;  // indices of all but the first, in an order set by the seed
    size_t next = 0;
  };

  Status make(size_t recipe);
  record::Candidate candidate(size_t recipe, const Assignment& tunes,
                              std::vector<std::string> parents) const;
  /// New candidates that differ from the parent in one tunable, nearest values first.
  Result<std::vector<record::Candidate>> neighbours(const halving::Entry& parent,
                                                    const halving::Archive& archive);
  /// The index of the recipe, generated; not set when no recipe can have this name.
  Result<std::optional<size_t>> find_recipe(const std::string& name);
  /// The recipe that takes its choices from both parents in turn; not set when their kernels
  /// differ.
  Result<std::optional<size_t>> crossed_recipe(const std::string& one, const std::string& other);
  /// New candidates that take tunables from two parents.
  Result<std::vector<record::Candidate>> children(const std::vector<const halving::Entry*>& parents,
                                                  const halving::Archive& archive);
  void mix(size_t recipe, const halving::Entry& one, const halving::Entry& other,
           const halving::Archive& archive, std::vector<record::Candidate>& out) const;
  Status propose_guesses(size_t count, const halving::Archive& archive,
                         std::vector<record::Candidate>& out);
  Status propose_offspring(size_t count, const halving::Archive& archive,
                           std::vector<record::Candidate>& out);
  void propose_rest(size_t count, const halving::Archive& archive,
                    std::vector<record::Candidate>& out);

  std::vector<Recipe> recipes_;
  RecipeNamed named_;
  std::set<std::string> choices_;  // of the recipes given to the constructor
  size_t crossed_ = 0;             // number of recipes made by crossing
  std::vector<Space> spaces_;
  std::map<std::string, size_t> by_name_;
  std::vector<std::string> problems_;
  size_t next_guess_ = 0;
  uint64_t seed_;
};

/// With a recipe for every design that code generation has for this task.
Result<std::unique_ptr<Builtin>> builtin_proposer(const task::Task& task,
                                                  const generate::Options& options, uint64_t seed);

/// Proposes no candidates: for measuring what a run has kept.
std::unique_ptr<halving::Proposer> no_proposer();

}  // namespace kw::variants
