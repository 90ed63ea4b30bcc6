// An evaluation synthesizes a kernel for every task of a suite, which takes hours and may cost
// money. So results go into a folder row by row, and the command line that continues the evaluation
// is stored and printed, also after Ctrl-C. Models are asked only if the user names one, and above
// 5 tasks the user must agree to the estimated cost.
// A program that keeps all in memory and prints at the end would be simpler, but one interrupt
// would lose everything. The cost: --resume must find the folder; without --out it takes the newest
// one of the suite.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "commands/command.h"
#include "commands/kernel_commands.h"
#include "commands/model_options.h"
#include "commands/values.h"
#include "commands/watch.h"
#include "core/text.h"
#include "os/files.h"
#include "workflows/eval.h"

namespace kw::commands {

namespace {

using suites::RunnerEvent;

constexpr size_t kAskedAbove = 5;  // tasks

std::string evaluations_folder() { return os::data_directory() + "/evals"; }

/// "suites/mine/" -> "mine".
std::string short_name(std::string suite) {
  while (suite.size() > 1 && suite.ends_with("/")) suite.pop_back();
  const size_t slash = suite.find_last_of('/');
  return slash == std::string::npos ? suite : suite.substr(slash + 1);
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts);
  return text;
}

/// The results folder: --out; otherwise with --resume the newest one of this suite; otherwise a new
/// one.
Result<std::string> results_folder(const Args& args) {
  const std::string given = args.one("--out");
  // Rows name folders below it, and are read from elsewhere.
  if (!given.empty()) return std::filesystem::absolute(given).lexically_normal().string();
  const std::string prefix = short_name(args.one("--suite")) + "-";
  if (!args.has("--resume")) return evaluations_folder() + "/" + prefix + time_stamp();
  std::vector<std::string> names = os::list_directory(evaluations_folder());
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(prefix) || name.size() != prefix.size() + 15;
  });
  if (names.empty()) {
    return input_error("there is nothing to resume in '{}'; name a folder with --out",
                       evaluations_folder());
  }
  return evaluations_folder() + "/" + names.back();
}

/// The command line that continues this evaluation.
std::string continue_line(const Args& args, const std::string& folder) {
  std::string text = "kernelwright eval";
  for (const auto& [name, values] : args.values) {
    if (name == "--out" || name == "--limit") continue;
    for (const std::string& value : values) text += fmt::format(" {} {}", name, shell_quote(value));
  }
  for (const std::string& flag : args.flags) {
    if (flag != "--resume") text += " " + flag;
  }
  return text + fmt::format(" --out {} --resume", shell_quote(folder));
}

Result<workflows::EvalRequest> eval_request(const Args& args, Io& io) {
  workflows::EvalRequest request;
  suites::RunnerRequest& runner = request.runner;
  runner.suite = args.one("--suite");
  runner.only = args.one("--only");
  runner.limit = args.integer("--limit");
  runner.jobs = static_cast<int>(args.integer("--jobs"));
  runner.resume = args.has("--resume");
  runner.against = args.one("--against");
  runner.out = KW_TRY(results_folder(args));
  runner.version = version();
  runner.command = continue_line(args, runner.out);
  workflows::SynthesizeRequest& each = request.each;
  if (args.has("--backward")) each.function = "backward";
  KW_TRY(read_synthesis_options(args, io, each));
  // Models, which cost money, are asked only if the user names one.
  const bool named = !each.models.model_id.empty() || !each.models.stage_models.empty();
  each.proposer = args.one("--proposer", named ? "hybrid" : "builtin");
  if (args.given("--seed")) each.seed = static_cast<uint64_t>(args.integer("--seed"));
  return request;
}

std::string row_text(const suites::TaskRow& row, const report::Style& style) {
  if (!row.passed) {
    return fmt::format("{} {}: {}", paint(style, report::Paint::Error, "failed"), row.failure_kind,
                       printable(std::string(
                           split_lines(row.failure_reason.empty() ? "?" : row.failure_reason)[0])));
  }
  std::string text = paint(style, report::Paint::Good, "passed");
  if (row.speedup) text += fmt::format("  {} {:.2f}x", row.relation, *row.speedup);
  if (row.time_us) text += fmt::format("  {:.1f} us{}", *row.time_us, row.measured ? "" : " est.");
  if (row.of_floor) text += fmt::format("  {:.0f} % of the floor", 100 * *row.of_floor);
  return text;
}

/// One line per task on standard output; progress on the terminal's status line.
void show(const RunnerEvent& event, Io& io) {
  const std::string where = fmt::format(
      "[{:>{}}/{}] {}", event.number, std::to_string(event.count).size(), event.count, event.task);
  switch (event.kind) {
    case RunnerEvent::Kind::Started:
      io.progress(where);
      return;
    case RunnerEvent::Kind::Says:
      io.progress(where + ": " + event.text);
      return;
    case RunnerEvent::Kind::Kept:
      io.print(where + "  passed before, kept\n");
      break;
    case RunnerEvent::Kind::Finished:
      io.print(fmt::format("{}  {}  {:.1f} s\n", where, row_text(*event.row, io.style()),
                           event.row->wall_seconds));
      break;
  }
  std::fflush(stdout);
}

/// Against an earlier evaluation only regressions count; otherwise every task must pass.
int verdict(const suites::Evaluation& evaluation) {
  if (!evaluation.against.empty()) return evaluation.regressions() > 0 ? kCandidateFailed : kOk;
  const bool all = evaluation.totals.passed.count == evaluation.totals.passed.of;
  return all ? kOk : kCandidateFailed;
}

/// Above a few tasks, shows what models may cost and asks the user to agree.
Status agree_to_cost(const workflows::EvalRequest& request, const Args& args, Io& io) {
  const auto cost = KW_TRY(workflows::eval_cost(request));
  if (!cost || cost->tasks <= kAskedAbove) return Done{};
  io.note(workflows::cost_text(*cost));
  if (args.has("--yes")) return Done{};
  if (!has_terminal()) {
    return input_error(workflows::cost_text(*cost) + "; pass --yes to continue without a terminal");
  }
  const auto answer = ask_user(io, "Continue? [y/N]");
  const std::string word(answer ? trim(*answer) : "");
  if (word == "y" || word == "Y" || word == "yes") return Done{};
  return input_error("nothing was run: the cost was not accepted");
}

}  // namespace

Result<int> eval_command(const Args& args, Io& io) {
  const workflows::EvalRequest request = KW_TRY(eval_request(args, io));
  KW_TRY(agree_to_cost(request, args, io));
  const std::string& folder = request.runner.out;
  InterruptWatch::set_final_note("to continue: " + request.runner.command + "\n");
  const auto watch = [&io](const RunnerEvent& event) { show(event, io); };
  const suites::Evaluation evaluation =
      KW_TRY(workflows::eval_suite(request, workflows::eval_tools(request.each), watch));
  io.print("\n" + suites::summary_text(evaluation));
  io.print(fmt::format("results     {}/results.csv\nsummary     {}/summary.md\n", folder, folder));
  if (!evaluation.complete()) {
    io.print(fmt::format("{} of {} tasks have a row; to continue:\n  {}\n", evaluation.rows.size(),
                         evaluation.selected, request.runner.command));
  }
  Json document = suites::to_json(evaluation);
  document.set("folder", folder);
  return io.finish(evaluation.interrupted ? kInterrupted : verdict(evaluation),
                   std::move(document));
}

}  // namespace kw::commands
