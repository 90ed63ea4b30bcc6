// Shows findings as text for the user: what happened, where in the source (both places of a race),
// where in the buffer, and what to do.
#pragma once

#include <string>
#include <vector>

#include "kernel/program.h"
#include "record/finding.h"
#include "report/style.h"

namespace kw::report {

/// What findings refer to. `program` may be null; then there are no pictures.
struct FindingContext {
  const kernel::Program* program = nullptr;
  std::string file_name;  // of the module, as findings name it
  std::string text;       // of the module
};

std::string finding_text(const record::Finding& finding, const FindingContext& context,
                         const Style& style);

/// All findings, certain ones first. At most `limit` are shown in full; one line counts them.
std::string findings_text(const std::vector<record::Finding>& findings,
                          const FindingContext& context, const Style& style, size_t limit = 12);

}  // namespace kw::report
