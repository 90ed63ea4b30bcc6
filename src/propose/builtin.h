// The proposer with no model in it: every design of code generation with its best guess first, then
// neighbours of what did well. Reproducible: the same archive and seed give the same proposals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "codegen/codegen.h"
#include "search/ports.h"
#include "task/task.h"

namespace kw::propose {

/// One way to compute a task, written out when first needed.
struct Recipe {
  std::string name;  // "rms_norm=block_per_row"
  std::function<Result<std::string>()> text;
};

class Builtin : public search::Proposer {
 public:
  Builtin(std::vector<Recipe> recipes, uint64_t seed);
  ~Builtin() override;

  std::string name() const override { return "builtin"; }
  Result<std::vector<record::Candidate>> propose(size_t count,
                                                 const search::Archive& archive) override;

  /// Recipes that gave no usable module, and why: a defect of code generation, never of the task.
  const std::vector<std::string>& problems() const { return problems_; }
  size_t recipes() const { return recipes_.size(); }

 private:
  using Assignment = std::map<std::string, int64_t>;
  /// A recipe's module with everything its `tune` lines allow.
  struct Space {
    bool made = false;
    std::string text;
    std::vector<Assignment> assignments;  // the first is the best guess; empty: unusable
    std::map<std::string, std::vector<int64_t>> axes;
    std::vector<size_t> shuffled;  // all but the first, in an order of the seed
    size_t next = 0;
  };

  Status make(size_t recipe);
  record::Candidate candidate(size_t recipe, const Assignment& tunes,
                              std::vector<std::string> parents) const;
  /// One step away from the parent along one axis, near ones first, that nobody knows yet.
  std::vector<record::Candidate> neighbours(const search::Entry& parent,
                                            const search::Archive& archive);
  Status propose_guesses(size_t count, const search::Archive& archive,
                         std::vector<record::Candidate>& out);
  void propose_neighbours(size_t count, const search::Archive& archive,
                          std::vector<record::Candidate>& out);
  void propose_rest(size_t count, const search::Archive& archive,
                    std::vector<record::Candidate>& out);

  std::vector<Recipe> recipes_;
  std::vector<Space> spaces_;
  std::map<std::string, size_t> by_name_;
  std::vector<std::string> problems_;
  size_t next_guess_ = 0;
  uint64_t seed_;
};

/// Of code generation's designs for this task.
Result<std::unique_ptr<Builtin>> builtin_proposer(const task::Task& task,
                                                  const codegen::Options& options, uint64_t seed);

/// Proposes nothing: for measuring what a run has kept.
std::unique_ptr<search::Proposer> no_proposer();

}  // namespace kw::propose
