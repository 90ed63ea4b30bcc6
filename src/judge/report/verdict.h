// A verdict as text for people: one line that says it, then the evidence, then how to see it again.
#pragma once

#include <string>

#include "record/verdict.h"
#include "report/findings.h"
#include "report/style.h"

namespace kw::report {

/// "PASSED", "WRONG at numerics", … in the colour it deserves.
std::string verdict_heading(const record::Verdict& verdict, const Style& style);

/// The whole of it; `context` is what a finding points into.
std::string verdict_text(const record::Verdict& verdict, const FindingContext& context,
                         const Style& style);

/// Worst element and numbers of an ErrorSummary, as rows "  worst element  y[3, 17]: …".
std::string error_text(const record::ErrorSummary& summary, const Style& style);

}  // namespace kw::report
