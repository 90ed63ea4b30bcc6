// What commands that make kernels share: naming a reference, showing progress, telling what came of
// it.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/io.h"
#include "engine/synthesize.h"

namespace kw::cli {

/// "rms_norm.py:rms_norm" -> file and function. A file that exists under the whole name wins.
Status name_reference(const std::string& named, const std::string& function,
                      engine::SynthesizeRequest& request);

/// "eager,compile" or "none".
std::vector<std::string> baseline_names(const std::string& list);

/// The job with its progress shown; an interrupt says how to go on with it.
Result<engine::SynthesisReport> make_kernel(const engine::SynthesizeRequest& request, Io& io);
Result<engine::SynthesisReport> go_on_with(const engine::ContinueRequest& request, Io& io);
/// --time, --budget, --device, --record, --replay, --timeout, --threads of a run that goes on.
Status continue_options(const Args& args, engine::ContinueRequest& request);

int report_code(const engine::SynthesisReport& report);
/// report.json, with the Error that ended the job if one did.
Json report_document(const engine::SynthesisReport& report);
/// Prints what came of it, `more` behind it, and gives the exit code.
int finish_job(const Result<engine::SynthesisReport>& report, Io& io, const std::string& more = "");

}  // namespace kw::cli
