// methods.json: the methods an author plans to try, checked before anything is compiled. All
// problems are reported at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optimize/iteration_plan.h"

namespace kw::optimize {

/// One field of methods.json. The validator uses this table.
struct FieldRow {
  const char* where;  // "": the document; "methods", "skipped_higher": an item
  const char* name;
  const char* type;  // "integer", "string", "number", "array"
  bool required;
  const char* meaning;
};
std::span<const FieldRow> method_fields();

inline constexpr size_t kMostClaims = 6;

struct Claims {
  std::vector<std::string> ids;       // known methods, in the given order
  Json document;                      // as read
  std::vector<std::string> errors;    // the file cannot be used
  std::vector<std::string> refusals;  // refused by the gate; can be overridden
  std::vector<std::string> warnings;

  bool ok() const { return errors.empty() && refusals.empty(); }
  /// The item of a method; null when there is none.
  const Json& entry(const std::string& id) const;
};

/// Checks the form of the file and its names.
Claims read_claims(std::string_view text, int iteration);
/// Checks the claims against the plan. Adds to refusals and warnings.
void check_claims(Claims& claims, const profile::Plan& plan, const State& state,
                  const profile::AxisBudget& budget);

Json to_json(const Claims& claims);
/// One line per problem.
std::string claims_text(const Claims& claims);

}  // namespace kw::optimize
