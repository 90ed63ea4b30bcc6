// Shows a verdict as text for the user: the verdict in one line, the evidence, the command that
// repeats it.
#pragma once

#include <string>

#include "record/verdict.h"
#include "report/findings.h"
#include "report/style.h"

namespace kw::report {

/// "PASSED", "WRONG at numerics", … in the colour of the verdict.
std::string verdict_heading(const record::Verdict& verdict, const Style& style);

/// The whole text. `context` is what a finding refers to.
std::string verdict_text(const record::Verdict& verdict, const FindingContext& context,
                         const Style& style);

/// The worst element and the numbers of an ErrorSummary, as rows "  worst element  y[3, 17]: …".
std::string error_text(const record::ErrorSummary& summary, const Style& style);

}  // namespace kw::report
