// The operators of mutation testing: mechanical changes that make an honest kernel wrong, or that
// change nothing. Each is a small edit of one PTX instruction or one plan line (docs/exploits.md,
// "Mutation testing").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx_lines.h"

namespace kw::mutation {

enum class Operator : uint8_t {
  Constant = 1,  // integers and floats changed
  Comparison,    // lt and le, eq and ne, signed and unsigned, negated
  Guard,         // a guard dropped or forced, a loop bound or step changed
  Address,       // one element off, factors swapped, an index narrowed
  Identity,      // another first value of a reduction
  Order,         // barrier, shuffle, fence, copy wait dropped; an atomic split
  Tail,          // the last element, vector or block left out
  Narrow,        // values through a narrower type
  Rounding,      // another rounding, approximate functions, a fused product split
  EarlyExit,     // idle for secret values and sizes, or where the output looks written
  Accumulate,    // another way to join values, one level of shuffles lost, a narrower sum
  Argument,      // arguments of one type swapped
};
inline constexpr int kOperators = 12;
const char* operator_name(Operator op);

struct Mutation {
  Operator op = Operator::Constant;
  std::string rule;   // "lt to le"
  std::string place;  // "37 setp.lt.s32 #0", "plan line 23"
  std::string text;   // the new lines, in the place of `instruction` or of the plan line
  /// The same lines with a trap where the result differs from the original's; "" where that cannot
  /// be asked.
  std::string probe;
  size_t instruction = 0;  // index into PtxLines::instructions()
  int plan_line = 0;       // from 1; 0: it mutates PTX

  bool is_plan() const { return plan_line > 0; }
  std::string key() const;
};

/// All mutations of a text. `seed` chooses constants that the text cannot know.
std::vector<Mutation> ptx_mutations(const PtxLines& lines, uint64_t seed);
/// The mutations with this operator, rule and place: one for each variant of a kernel in the text.
std::vector<Mutation> same_mutations(const PtxLines& lines, const Mutation& mutation,
                                     uint64_t seed);
/// All mutations of the plan lines of a module's text.
std::vector<Mutation> plan_mutations(const std::string& module_text);

/// The module's text with the mutated plan line.
std::string mutated_plan(const std::string& module_text, const Mutation& mutation);

}  // namespace kw::mutation
