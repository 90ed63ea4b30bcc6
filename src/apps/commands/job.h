// What commands that make kernels share: naming a reference, showing progress, telling what came of
// it.
#pragma once

#include <string>
#include <vector>

#include "commands/command.h"
#include "commands/io.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/synthesize.h"

namespace kw::commands {

/// "rms_norm.py:rms_norm" -> file and function. A file that exists under the whole name wins.
Status name_reference(const std::string& named, const std::string& function,
                      workflows::SynthesizeRequest& request);

/// "eager,compile" or "none".
std::vector<std::string> baseline_names(const std::string& list);

/// The job with its progress shown; an interrupt says how to go on with it.
Result<workflows::SynthesisReport> make_kernel(const workflows::SynthesizeRequest& request, Io& io);
Result<workflows::SynthesisReport> go_on_with(const workflows::ContinueRequest& request, Io& io);
/// --time, --budget, --device, --record, --replay, --timeout, --threads of a run that goes on.
Status continue_options(const Args& args, workflows::ContinueRequest& request);

int report_code(const workflows::SynthesisReport& report);
/// report.json, with the Error that ended the job if one did.
Json report_document(const workflows::SynthesisReport& report);
/// Prints what came of it, `more` behind it, and gives the exit code.
int finish_job(const Result<workflows::SynthesisReport>& report, Io& io,
               const std::string& more = "");

}  // namespace kw::commands
