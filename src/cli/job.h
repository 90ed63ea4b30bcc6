// What commands that make kernels share: naming a reference, showing progress, telling what came of
// it.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cli/io.h"
#include "engine/synthesize.h"

namespace kw::cli {

/// "rms_norm.py:rms_norm" -> file and function. A file that exists under the whole name wins.
Status name_reference(const std::string& named, const std::string& function,
                      engine::SynthesizeRequest& request);

/// "eager,compile" or "none".
std::vector<std::string> baseline_names(const std::string& list);

/// One line, rewritten on a terminal; elsewhere a line per stage and every few seconds. An
/// interrupt says how to go on.
class ProgressLines {
 public:
  explicit ProgressLines(Io& io) : io_(io) {}
  void operator()(const engine::SynthesisProgress& progress);

 private:
  Io& io_;
  std::string stage_;
  double last_ = 0;
};

int report_code(const engine::SynthesisReport& report);
/// report.json, with the Error that ended the job if one did.
Json report_document(const engine::SynthesisReport& report);
/// Prints what came of it, `more` behind it, and gives the exit code.
int finish_job(const Result<engine::SynthesisReport>& report, Io& io, const std::string& more = "");

}  // namespace kw::cli
