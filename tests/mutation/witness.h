// Decides whether a difference between a mutant and its original is an error or a legal rounding.
#pragma once

#include <string>

#include "ports/oracle.h"
#include "sweep.h"

namespace kw::mutation {

struct WitnessVerdict {
  enum class Kind : uint8_t {
    Ties,       // another choice among equals that the contract leaves open; all else has equal bits
    Rounding,   // within the bound, and as precise as the original or the op-by-op run
    Wrong,      // outside the bound, a finding, or much less precise
    Disputed,   // oracle and second opinion disagree by more than the bound
    Undecided,  // the second opinion does not know an op
  } kind = Kind::Wrong;
  std::string why;
};

/// Judges one witness by an interpreter that shares no code with the oracle; the bound is the
/// oracle's.
WitnessVerdict judge_witness(const Witness& witness, const task::Task& task, ports::Oracle& oracle);

}  // namespace kw::mutation
