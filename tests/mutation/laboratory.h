// One honest module under mutation: judges its mutants and decides what became of each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../honest/modules.h"
#include "mutating_compiler.h"
#include "sweep.h"
#include "verification/verify.h"

namespace kw::mutation {

enum class Fate : uint8_t {
  Killed,      // the gate refused it
  Stillborn,   // not a module, or PTX that cannot be loaded: no mutant at all
  Equivalent,  // no input tells it from the original
  Legal,       // it differs by legal roundings, or where the contract leaves a choice
  Survived,    // a hole
};
const char* fate_name(Fate fate);

struct Outcome {
  Fate fate = Fate::Killed;
  std::string how;  // the stage that killed it, the kind of equivalence
  std::string why;
};

struct LaboratorySettings {
  uint64_t seed = 1;
  double budget_seconds = 1;  // of the gate; survivors are judged again with whole_budget_seconds
  double whole_budget_seconds = 60;
  size_t sweep_cells = 2000, aimed_cells = 200;
};

class Laboratory {
 public:
  /// Judges the original, which must pass. The compiler and the device must outlive it.
  static Result<std::unique_ptr<Laboratory>> open(const honest::HonestModule& module,
                                                  ports::Compiler& compiler, ports::Device& device,
                                                  ports::Oracle& oracle,
                                                  const LaboratorySettings& settings);

  /// Judges the original again, which must pass: inputs and truths are there now, as they are for
  /// mutants. Returns the seconds of the processor that it took. To be called before judge().
  Result<double> judge_original();
  std::vector<Mutation> mutations() const;
  Result<Outcome> judge(const Mutation& mutation);

 private:
  Laboratory(const honest::HonestModule& module, ports::Compiler& compiler, ports::Device& device,
             ports::Oracle& oracle, const LaboratorySettings& settings);
  Result<verification::VerifyReport> verify(const std::string& text, double budget_seconds);
  Result<Outcome> judge(const Mutation& mutation, const std::string& text);
  /// What the gate says against the mutant; not set: it passes.
  Result<std::optional<Outcome>> refusal(const Mutation& mutation, const std::string& text,
                                         double budget_seconds);
  Result<Outcome> decide(const Mutation& mutation, const std::string& text);
  Result<Outcome> equivalent(const Mutation& mutation);
  Result<const Sweep*> sweep();
  /// Cells of both sweeps, the common one and one aimed at the mutation, at which the mutant
  /// differs.
  Result<std::vector<Witness>> witnesses(const Mutation& mutation, const kernel::Module& mutated);
  SweepTools sweep_tools();

  honest::HonestModule module_;
  kernel::Module parsed_;
  MutatingCompiler compiler_;
  ports::Device& device_;
  ports::Oracle& oracle_;
  LaboratorySettings settings_;
  verification::VerifyPools pools_;
  std::unique_ptr<Sweep> sweep_, aimed_;
};

}  // namespace kw::mutation
