#include "cli/job.h"

#include "base/text.h"
#include "cli/synthesize_text.h"
#include "os/files.h"

namespace kw::cli {
namespace {

constexpr double kLineSeconds = 2;  // between lines of progress where no terminal shows them

}  // namespace

Status name_reference(const std::string& named, const std::string& function,
                      engine::SynthesizeRequest& request) {
  request.reference = named;
  request.function = function;
  const size_t colon = request.reference.rfind(':');
  if (colon == std::string::npos || os::exists(request.reference)) return Done{};
  const std::string name = request.reference.substr(colon + 1);
  if (name.find('/') != std::string::npos) return Done{};
  if (!request.function.empty() && request.function != name)
    return input_error("--function " + request.function + " and " + request.reference +
                       " name two functions");
  request.function = name;
  request.reference = request.reference.substr(0, colon);
  return Done{};
}

std::vector<std::string> baseline_names(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string& word : split(list, ','))
    if (word != "none") names.emplace_back(trim(word));
  return names;
}

void ProgressLines::operator()(const engine::SynthesisProgress& progress) {
  if (!progress.notice.empty()) io_.note(progress.notice);
  if (io_.live()) {
    io_.progress(cli::progress_text(progress));
    return;
  }
  const bool due = progress.stage != stage_ || progress.seconds >= last_ + kLineSeconds;
  if (!due) return;
  stage_ = progress.stage;
  last_ = progress.seconds;
  io_.line(cli::progress_text(progress));
}

int report_code(const engine::SynthesisReport& report) {
  if (report.interrupted) return kInterrupted;
  if (report.error_blame) return exit_code(static_cast<Blame>(*report.error_blame));
  return report.passed ? kOk : kCandidateFailed;
}

Json report_document(const engine::SynthesisReport& report) {
  Json document = report.document;
  if (report.error_blame) {
    const Blame blame = static_cast<Blame>(*report.error_blame);
    document.set("error", Json::object()
                              .set("blame", report.interrupted ? "user" : blame_name(blame))
                              .set("message", report.failure_reason));
  }
  return document;
}

int finish_job(const Result<engine::SynthesisReport>& report, Io& io, const std::string& more) {
  if (!report) return io.fail(report.error());
  io.print(synthesis_text(*report, io.style()) + more);
  if (report->error_blame && !report->interrupted) io.complain(report->failure_reason);
  return io.finish(report_code(*report), report_document(*report));
}

}  // namespace kw::cli
