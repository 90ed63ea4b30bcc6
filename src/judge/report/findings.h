// Findings as text for people: what, where in the source (both places of a race), where in the
// buffer, what to do.
#pragma once

#include <string>
#include <vector>

#include "kernel/program.h"
#include "record/finding.h"
#include "report/style.h"

namespace kw::report {

/// What findings point into. `program` may be null (no pictures then).
struct FindingContext {
  const kernel::Program* program = nullptr;
  std::string file_name;  // of the module, as findings name it
  std::string text;       // of the module
};

std::string finding_text(const record::Finding& finding, const FindingContext& context,
                         const Style& style);

/// All of them, certain ones first, at most `limit` in full; then one line that counts them.
std::string findings_text(const std::vector<record::Finding>& findings,
                          const FindingContext& context, const Style& style, size_t limit = 12);

}  // namespace kw::report
