#include "commands/kernel_commands.h"

#include "commands/model_options.h"
#include "commands/synthesize_text.h"
#include "commands/values.h"
#include "commands/watch.h"
#include "core/text.h"
#include "os/files.h"
#include "reference/load_reference.h"

namespace kw::commands {
namespace {

constexpr double kLineSeconds = 2;  // between lines of progress without a terminal

/// Progress: one status line on a terminal; otherwise a line per stage and every few seconds.
class ProgressLines {
 public:
  explicit ProgressLines(Io& io) : io_(io) {}
  void operator()(const workflows::SynthesisProgress& progress);

 private:
  Io& io_;
  std::string stage_;
  double last_ = 0;
};

/// "eager,compile" or "none".
std::vector<std::string> baseline_names(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string& word : split(list, ',')) {
    if (trim(word) != "none") names.emplace_back(trim(word));
  }
  return names;
}

void ProgressLines::operator()(const workflows::SynthesisProgress& progress) {
  if (!progress.notice.empty()) io_.note(progress.notice);
  if (io_.live()) {
    io_.progress(commands::progress_text(progress));
    return;
  }
  const bool due = progress.stage != stage_ || progress.seconds >= last_ + kLineSeconds;
  if (!due) return;
  stage_ = progress.stage;
  last_ = progress.seconds;
  io_.line(commands::progress_text(progress));
}

}  // namespace

Status name_reference(const std::string& named, const std::string& function,
                      workflows::SynthesizeRequest& request) {
  request.reference = named;
  request.function = function;
  return reference::split_name(request.reference, request.function);
}

Status task_request_options(const Args& args, workflows::TaskRequest& request) {
  request.inputs = args.all("--input");
  // evolve's own modes are other words.
  for (const std::string& word : args.all("--mode")) {
    if (word == "eval" || word == "train") request.mode = word;
  }
  request.dims = KW_TRY(binding_options(args)).dims;
  request.device = args.one("--device");
  request.target = args.one("--target");
  request.compiler = args.one("--compiler");
  request.precision = args.one("--precision");
  if (const std::string required = args.one("--require"); !required.empty())
    request.precision += (request.precision.empty() ? "" : ",") + required;
  request.cross_check = args.one("--cross-check");
  request.quick = args.has("--quick");
  request.timeout_seconds = args.number("--timeout");
  request.budget_seconds = args.number("--budget-seconds", request.budget_seconds);
  request.threads = static_cast<int>(args.integer("--threads"));
  request.version = version();
  return Done{};
}

Status read_synthesis_options(const Args& args, Io& io, workflows::SynthesizeRequest& request) {
  KW_TRY(task_request_options(args, request));
  request.elements = args.integer("--elements");
  request.proposer = args.one("--proposer", "auto");
  request.models = KW_TRY(model_options(args, io));
  request.seconds = args.number("--time");
  request.candidates = static_cast<size_t>(args.integer("--candidates"));
  request.goal = args.number("--goal");
  request.perf_target = args.number("--perf-target", request.perf_target);
  if (args.given("--versus")) request.baselines = baseline_names(args.one("--versus"));
  return Done{};
}

Result<workflows::SynthesisReport> make_kernel(const workflows::SynthesizeRequest& request,
                                               Io& io) {
  ProgressLines lines(io);
  return workflows::synthesize(request, [&](const workflows::SynthesisProgress& progress) {
    if (!progress.folder.empty()) InterruptWatch::set_final_note(resume_hint(progress.folder));
    lines(progress);
  });
}

Result<workflows::SynthesisReport> resume_run(const workflows::ContinueRequest& request, Io& io) {
  ProgressLines lines(io);
  InterruptWatch::set_final_note(resume_hint(request.folder));
  return workflows::continue_run(
      request, [&](const workflows::SynthesisProgress& progress) { lines(progress); });
}

Status continue_options(const Args& args, workflows::ContinueRequest& request) {
  if (args.given("--time")) request.seconds = args.number("--time");
  model_limits(args, request.limits);
  if (args.given("--device")) request.device = args.one("--device");
  request.record = args.one("--record");
  request.replay = args.one("--replay");
  request.programs = args.has("--allow-commands");
  request.timeout_seconds = args.number("--timeout");
  request.threads = static_cast<int>(args.integer("--threads"));
  request.version = version();
  return Done{};
}

int report_code(const workflows::SynthesisReport& report) {
  if (report.interrupted) return kInterrupted;
  if (report.error_blame) return exit_code(static_cast<Blame>(*report.error_blame));
  return report.passed ? kOk : kCandidateFailed;
}

Json report_document(const workflows::SynthesisReport& report) {
  Json document = report.document;
  if (report.error_blame) {
    const Blame blame = static_cast<Blame>(*report.error_blame);
    document.set("error", Json::object()
                              .set("blame", report.interrupted ? "user" : blame_name(blame))
                              .set("message", report.failure_reason));
  }
  return document;
}

int finish_job(const workflows::SynthesisReport& report, Io& io, const std::string& more) {
  io.print(synthesis_text(report, io.style()) + more);
  if (report.error_blame && !report.interrupted) io.print_error(report.failure_reason);
  return io.finish(report_code(report), report_document(report));
}

}  // namespace kw::commands
