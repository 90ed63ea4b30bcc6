// The operators that need no model: other values of tunables, other schedules, children of two
// parents, the same without what does not pay. Work on any module with `tune` lines; schedules are
// those of a code generator behind a port. The same order and archive give the same candidate.
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
#include "evolve/archive.h"
#include "evolve/ports.h"
#include "kernel/module.h"

namespace kw::evolve {

/// A code generator's designs, by names like "rms_norm=block_per_row", a choice for each kernel.
class Designs {
 public:
  virtual ~Designs();
  /// The best guess first. Never empty for a task that can be generated.
  virtual const std::vector<std::string>& names() const = 0;
  /// The module; also of names that mix the choices of others. `switches`: with more to switch off.
  virtual Result<std::string> text(const std::string& name, bool switches) = 0;
};

class Breeder {
 public:
  Breeder(Designs& designs, uint64_t seed) : designs_(designs), seed_(seed) {}

  /// Nothing when nobody can think of a candidate that is not known. Where the operator itself
  /// gives none, others are tried; the candidate's `stage` says which one it was.
  Result<std::optional<record::Candidate>> breed(const Order& order, const Archive& archive);
  /// Other values of the parent's tunables alone; nothing when all of them were tried.
  std::optional<record::Candidate> tune(const Order& order, const Archive& archive);

  /// Designs that gave no usable module, and why.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  using Values = std::map<std::string, int64_t>;
  using Candidates = std::vector<record::Candidate>;
  /// A module and everything its `tune` lines allow.
  struct Space {
    std::string text;
    std::optional<kernel::Module> module;  // nothing: it cannot be used
    std::vector<Values> values;            // the first is the best guess
    std::set<Values> legal;
  };
  /// Where a parent's relatives are looked for.
  struct Home {
    const Space* space = nullptr;
    std::string origin;
    Values tunes;  // all of them
  };

  const Space& space_of_text(const std::string& text);
  Result<const Space*> space_of_design(const std::string& name, bool switches);
  std::optional<Home> home(const Entry& entry);
  static record::Candidate made(const Space& space, const std::string& origin, const Values& values,
                                std::vector<std::string> parents);
  /// Values of the parent where the space allows them, its best guess elsewhere.
  static Values carried(const Space& space, const Values& from);

  // Each gives candidates in the order to try them; some may be known already.
  Result<Candidates> guesses(const Archive& archive);
  Candidates tuned(const Entry& parent, Random& random);
  Result<Candidates> rescheduled(const Entry& parent, Random& random);
  Result<Candidates> crossed(const Entry& one, const Entry& other, Random& random);
  Candidates simplified(const Entry& parent, Random& random);
  Result<std::optional<record::Candidate>> anything(Random& random, const Archive& archive);
  Result<Candidates> by(Operator op, const Order& order, const Archive& archive, Random& random);
  std::optional<record::Candidate> first_new(const Candidates& list, const Archive& archive) const;
  record::Candidate offered(record::Candidate found, Operator used, const Archive& archive);

  Designs& designs_;
  uint64_t seed_;
  std::map<std::string, std::unique_ptr<Space>> spaces_;  // by text
  std::map<std::string, std::string> texts_;              // by design, " switches" behind it
  std::set<std::string> offered_;                         // ids, in this session
  std::vector<std::string> problems_;
};

}  // namespace kw::evolve
