// methods.json: what somebody means to try, checked before anything is compiled. All problems at
// once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optimize/plan.h"

namespace kw::optimize {

/// One field of methods.json. The table is what the validator goes by.
struct FieldRow {
  const char* where;  // "" = the document, "methods" = an item, "skipped_higher" = an item of that
  const char* name;
  const char* type;  // "integer", "string", "number", "array"
  bool required;
  const char* meaning;
};
std::span<const FieldRow> method_fields();

inline constexpr size_t kMostClaims = 6;

struct Claims {
  std::vector<std::string> ids;       // known methods, in the order given
  Json document;                      // as read
  std::vector<std::string> errors;    // nothing can be done with this file
  std::vector<std::string> refusals;  // the gate says no; may be overridden
  std::vector<std::string> warnings;

  bool ok() const { return errors.empty() && refusals.empty(); }
  /// The item about a method; null when there is none.
  const Json& entry(const std::string& id) const;
};

/// The form of the file and the names in it.
Claims read_claims(std::string_view text, int iteration);
/// What the plan says of the claims; adds to refusals and warnings.
void check_claims(Claims& claims, const profile::Plan& plan, const State& state,
                  const profile::AxisBudget& budget);

Json to_json(const Claims& claims);
/// One line per problem.
std::string claims_text(const Claims& claims);

}  // namespace kw::optimize
