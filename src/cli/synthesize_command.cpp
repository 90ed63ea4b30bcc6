#include <fmt/core.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/synthesize_text.h"
#include "cli/values.h"
#include "cli/watch.h"
#include "engine/synthesize.h"
#include "os/files.h"

namespace kw::cli {

namespace {

constexpr uint64_t kMostPromptBytes = uint64_t{1} << 20;
constexpr double kLineSeconds = 2;  // between lines of progress where no terminal shows them

/// --prompt or the text of --prompt-file.
Result<std::string> prompt_option(const Args& args) {
  const std::string file = args.one("--prompt-file");
  if (file.empty()) return args.one("--prompt");
  if (!args.one("--prompt").empty())
    return input_error("--prompt and --prompt-file: give one of the two");
  return os::read_file(file, kMostPromptBytes);
}

/// "rms_norm.py:rms_norm" -> file and function. A file that exists under the whole name wins.
Status reference_option(const Args& args, engine::SynthesizeRequest& request) {
  request.reference = args.one("--reference");
  request.function = args.one("--function");
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

Result<engine::SynthesizeRequest> synthesize_request(const Args& args, Io& io) {
  engine::SynthesizeRequest request;
  KW_TRY(reference_option(args, request));
  request.prompt = KW_TRY(prompt_option(args));
  request.inputs = args.all("--input");
  const engine::BindingRequest bindings = KW_TRY(binding_options(args));
  request.dims = bindings.dims;
  request.elements = KW_TRY(integer_option(args, "--elements", 0, 1, int64_t{1} << 40));
  request.target = args.one("--target", "auto");
  request.device = args.one("--device", "auto");
  request.compiler = args.one("--compiler");
  request.proposer = args.one("--proposer", "auto");
  request.models = KW_TRY(model_options(args, io));
  request.seconds = KW_TRY(duration_option(args, "--time", request.seconds));
  request.candidates =
      static_cast<size_t>(KW_TRY(integer_option(args, "--candidates", 0, 1, 1000000)));
  request.goal = KW_TRY(number_option(args, "--goal", request.goal));
  request.perf_target = KW_TRY(number_option(args, "--perf-target", request.perf_target));
  request.precision = args.one("--precision");
  if (!args.one("--seed").empty())
    request.seed = static_cast<uint64_t>(KW_TRY(integer_option(args, "--seed", 0, 0, INT64_MAX)));
  request.out = args.one("--out");
  request.quick = args.has("--quick");
  request.cross_check = args.one("--cross-check", "auto");
  if (!args.one("--versus").empty()) {
    request.baselines.clear();
    for (const std::string& word : split(args.one("--versus"), ','))
      if (word != "none") request.baselines.emplace_back(trim(word));
  }
  request.timeout_seconds = KW_TRY(timeout_option(args));
  request.threads = static_cast<int>(KW_TRY(integer_option(args, "--threads", 0, 1, 1024)));
  request.version = version();
  return request;
}

/// One line, rewritten on a terminal; elsewhere a line per stage and every few seconds.
class ProgressLines {
 public:
  explicit ProgressLines(Io& io) : io_(io) {}

  void operator()(const engine::SynthesisProgress& progress) {
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

 private:
  Io& io_;
  std::string stage_;
  double last_ = 0;
};

int report_code(const engine::SynthesisReport& report) {
  if (report.interrupted) return kInterrupted;
  if (report.error_blame) return exit_code(static_cast<Blame>(*report.error_blame));
  return report.passed ? kOk : kCandidateFailed;
}

int finish(const Result<engine::SynthesisReport>& report, Io& io) {
  if (!report) return io.fail(report.error());
  io.print(synthesis_text(*report, io.style()));
  if (report->error_blame && !report->interrupted) io.complain(report->failure_reason);
  Json document = report->document;
  if (report->error_blame) {
    const Blame blame = static_cast<Blame>(*report->error_blame);
    document.set("error", Json::object()
                              .set("blame", report->interrupted ? "user" : blame_name(blame))
                              .set("message", report->failure_reason));
  }
  return io.finish(report_code(*report), std::move(document));
}

int go_on(const Args& args, Io& io, bool only_measure) {
  engine::ContinueRequest request;
  const auto fill = [&]() -> Status {
    request.folder = KW_TRY(engine::named_run(args.one("--out"), args.positionals.front()));
    request.reference = args.one("--reference");
    if (!args.one("--time").empty()) request.seconds = KW_TRY(duration_option(args, "--time", 0));
    if (!args.one("--candidates").empty())
      request.candidates =
          static_cast<size_t>(KW_TRY(integer_option(args, "--candidates", 0, 1, 1000000)));
    if (!args.one("--budget").empty())
      request.budget_usd = KW_TRY(number_option(args, "--budget", 0, 0, 1e6));
    request.record = args.one("--record");
    request.replay = args.one("--replay");
    request.device = only_measure ? args.one("--device", "auto") : args.one("--device");
    request.only_measure = only_measure;
    request.timeout_seconds = KW_TRY(timeout_option(args));
    request.threads = static_cast<int>(KW_TRY(integer_option(args, "--threads", 0, 1, 1024)));
    request.version = version();
    return Done{};
  };
  const Status filled = fill();
  if (!filled) return io.fail(filled.error());
  ProgressLines lines(io);
  InterruptWatch::last_words(resume_hint(request.folder));
  const auto report = engine::continue_run(
      request, [&](const engine::SynthesisProgress& progress) { lines(progress); });
  return finish(report, io);
}

}  // namespace

int synthesize_command(const Args& args, Io& io) {
  const auto request = synthesize_request(args, io);
  if (!request) return io.fail(request.error());
  ProgressLines lines(io);
  const auto report = engine::synthesize(*request, [&](const engine::SynthesisProgress& progress) {
    if (!progress.folder.empty()) InterruptWatch::last_words(resume_hint(progress.folder));
    lines(progress);
  });
  return finish(report, io);
}

int resume_command(const Args& args, Io& io) { return go_on(args, io, false); }
int tune_command(const Args& args, Io& io) { return go_on(args, io, true); }

}  // namespace kw::cli
