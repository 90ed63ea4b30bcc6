// Code shared by commands that make kernels: naming a reference, reading options, showing
// progress, printing the result.
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

/// The options about a task and its machine, except reference and seed.
Status task_request_options(const Args& args, workflows::TaskRequest& request);
/// The options that synthesize, evolve and eval read in the same way.
Status read_synthesis_options(const Args& args, Io& io, workflows::SynthesizeRequest& request);

/// Runs the job and shows its progress; after an interrupt it says how to continue.
Result<workflows::SynthesisReport> make_kernel(const workflows::SynthesizeRequest& request, Io& io);
Result<workflows::SynthesisReport> resume_run(const workflows::ContinueRequest& request, Io& io);
/// --time, --budget, --device, --record, --replay, --timeout, --threads of a continued run.
Status continue_options(const Args& args, workflows::ContinueRequest& request);

int report_code(const workflows::SynthesisReport& report);
/// report.json, with the Error that ended the job if there was one.
Json report_document(const workflows::SynthesisReport& report);
/// Prints the result and then `more`. Returns the exit code.
int finish_job(const workflows::SynthesisReport& report, Io& io, const std::string& more = "");

}  // namespace kw::commands
