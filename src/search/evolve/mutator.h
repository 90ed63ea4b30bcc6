// The operators without a model: other tunables, other schedules, children of two parents, simpler
// versions. They work on any module with `tune` lines; schedules come from a code generator behind
// a port. The same request and archive give the same candidate.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/result.h"
#include "evolve/evolve_ports.h"
#include "evolve/population.h"
#include "kernel/module.h"

namespace kw::evolve {

/// The designs of a code generator, by names like "rms_norm=block_per_row": one choice per kernel.
class Designs {
 public:
  virtual ~Designs();
  /// The best guess first. Never empty for a task that can be generated.
  virtual const std::vector<std::string>& names() const = 0;
  /// The module of a design, or of a name that mixes the choices of several designs. With
  /// `switches`, more methods can be switched off.
  virtual Result<std::string> text(const std::string& name, bool switches) = 0;
};

class Mutator {
 public:
  Mutator(Designs& designs, uint64_t seed) : designs_(designs), seed_(seed) {}

  /// Not set when no new candidate is left. If the operator gives none, others are tried; the
  /// candidate's `stage` names the operator used.
  Result<std::optional<record::Candidate>> mutate(const ProposalRequest& request,
                                                  const Population& archive);
  /// Changes only the parent's tunables; not set when all values were tried.
  std::optional<record::Candidate> tune(const ProposalRequest& request, const Population& archive);

  /// Designs without a usable module, and why.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  using Values = std::map<std::string, int64_t>;
  using Candidates = std::vector<record::Candidate>;
  /// A module and all assignments that its `tune` lines allow.
  struct Space {
    std::string text;
    std::optional<kernel::Module> module;  // not set: unusable
    std::vector<Values> values;            // the first is the best guess
    std::set<Values> legal;
  };
  /// The space, design and values of a parent.
  struct ParentPoint {
    const Space* space = nullptr;
    std::string origin;
    Values tunes;  // with a value for every tunable
  };

  const Space& space_of_text(const std::string& text);
  Result<const Space*> space_of_design(const std::string& name, bool switches);
  std::optional<ParentPoint> parent_point(const Entry& entry);
  static record::Candidate made(const Space& space, const std::string& origin, const Values& values,
                                std::vector<std::string> parents);
  /// The parent's values if the space allows them, otherwise the best guess.
  static Values carried(const Space& space, const Values& from);

  // Each returns candidates in the order to try them; some may be known already.
  Result<Candidates> guesses(const Population& archive);
  Candidates tuned(const Entry& parent, Random& random);
  Result<Candidates> rescheduled(const Entry& parent, Random& random);
  Result<Candidates> crossed(const Entry& one, const Entry& other, Random& random);
  Candidates simplified(const Entry& parent, Random& random);
  Result<std::optional<record::Candidate>> anything(Random& random, const Population& archive);
  Result<Candidates> by(Operator op, const ProposalRequest& request, const Population& archive,
                        Random& random);
  std::optional<record::Candidate> first_new(const Candidates& list,
                                             const Population& archive) const;
  record::Candidate proposal_of(record::Candidate found, Operator used, const Population& archive);

  Designs& designs_;
  uint64_t seed_;
  std::map<std::string, std::unique_ptr<Space>> spaces_;  // by text
  std::map<std::string, std::string> texts_;              // by design, with " switches" after it
  std::set<std::string> proposed_;                        // ids, in this session
  std::vector<std::string> problems_;
};

}  // namespace kw::evolve
