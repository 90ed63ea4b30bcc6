// The commands about stored runs only read options and print; what they do is in store and
// workflows. `inspect` as text shows a few candidates, so it may show a kept view of a large run.
// As JSON or with its events it promises everything, and reads the whole run. One path for both was
// simpler; it took seconds for thousands of candidates.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "commands/command.h"
#include "commands/inspect_text.h"
#include "commands/values.h"
#include "core/contains.h"
#include "core/text.h"
#include "store/find.h"
#include "store/run.h"
#include "workflows/fsck.h"

namespace kw::commands {

namespace {

std::string root_option(const Args& args) { return args.one("--out", store::default_root()); }

struct Unit {
  const char* name;
  double factor;
};
constexpr std::array<Unit, 6> kAges = {
    {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}, {"", 86400}}};
constexpr std::array<Unit, 9> kSizes = {{{"KiB", 1024.0},
                                         {"MiB", 1048576.0},
                                         {"GiB", 1073741824.0},
                                         {"TiB", 1099511627776.0},
                                         {"KB", 1e3},
                                         {"MB", 1e6},
                                         {"GB", 1e9},
                                         {"TB", 1e12},
                                         {"", 1}}};

/// "30d" in seconds, "10GiB" in bytes; empty when the option was not given.
Result<std::optional<double>> quantity(const Args& args, const char* option,
                                       std::span<const Unit> units, const char* example) {
  const std::string text = args.one(option);
  if (args.all(option).empty()) return std::optional<double>();
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const std::string digits = text.substr(0, text.size() - std::string_view(unit.name).size());
    const std::optional<double> value = parse_double(digits);
    if (value && *value >= 0 && *value * unit.factor < 9e18)
      return std::optional(*value * unit.factor);
  }
  return input_error("{}: '{}' is not of the form {}", option, text, example);
}

Result<store::GcRequest> gc_request(const Args& args) {
  store::GcRequest request;
  request.root = root_option(args);
  request.older_than_seconds = KW_TRY(quantity(args, "--older-than", kAges, "30d, 12h or 2w"));
  const auto budget = KW_TRY(quantity(args, "--budget", kSizes, "500MB or 10GiB"));
  if (budget) request.budget_bytes = static_cast<int64_t>(*budget);
  request.keep = args.integer("--keep");
  request.remove = args.has("--delete");
  if (!request.older_than_seconds && !request.budget_bytes) {
    return input_error("gc needs --older-than AGE, --budget SIZE, or both");
  }
  return request;
}

Json gc_json(const store::GcReport& report, bool removed) {
  Json items = Json::array();
  for (const store::GcItem& item : report.items) {
    Json row = workflows::to_json(item.run);
    items.push(row.set("why", item.why).set("problem", item.problem));
  }
  Json json = Json::object();
  json.set("removed", removed).set("runs", report.runs).set("bytes", report.bytes);
  return json.set("freed", report.freed).set("items", std::move(items));
}

Result<std::vector<store::RunRow>> chosen_runs(const Args& args) {
  const int64_t most = args.integer("--limit", INT64_MAX);
  std::vector<store::RunRow> runs = KW_TRY(store::list_runs(root_option(args)));
  const std::string status = args.one("--status");
  constexpr std::array kStates = {"passed", "failed", "interrupted", "running", "damaged"};
  if (!status.empty() && !contains(kStates, status)) {
    return input_error(
        "--status: '{}' is not one of passed, failed, interrupted, running, damaged{}", status,
        did_you_mean(status, {kStates.begin(), kStates.end()}));
  }
  std::erase_if(runs,
                [&](const store::RunRow& run) { return !status.empty() && run.status != status; });
  const auto extra = static_cast<int64_t>(runs.size()) - most;
  if (extra > 0) runs.erase(runs.begin(), runs.begin() + extra);
  return runs;
}

}  // namespace

Result<int> runs_command(const Args& args, Io& io) {
  const std::vector<store::RunRow> runs = KW_TRY(chosen_runs(args));
  const std::string root = root_option(args);
  io.print(runs.empty() ? fmt::format("no runs in {}\n", root) : runs_text(runs, io.style()));
  Json list = Json::array();
  for (const store::RunRow& run : runs) list.push(workflows::to_json(run));
  return io.finish(kOk, Json::object().set("root", root).set("runs", std::move(list)));
}

Result<int> inspect_command(const Args& args, Io& io) {
  const std::string name = args.positionals.empty() ? "latest" : args.positionals.front();
  if (const std::string id = args.one("--candidate"); !id.empty()) {
    const auto view = KW_TRY(workflows::inspect_candidate(root_option(args), name, id));
    io.print(candidate_text(view, io.style()));
    return io.finish(kOk, to_json(view));
  }
  const int64_t most = args.integer("--limit");
  if (!io.json() && !args.has("--events")) {
    const auto view =
        KW_TRY(workflows::glance_at_run(root_option(args), name, static_cast<size_t>(most)));
    io.print(inspect_text(view, static_cast<size_t>(most), false, io.style()));
    return io.finish(kOk, Json::object());
  }
  const workflows::RunView view = KW_TRY(workflows::inspect_run(root_option(args), name));
  io.print(inspect_text(view, static_cast<size_t>(most), args.has("--events"), io.style()));
  return io.finish(kOk, to_json(view));
}

Result<int> diff_command(const Args& args, Io& io) {
  if (args.positionals.size() != 2) {
    return input_error("diff needs two runs: diff RUN_A RUN_B");
  }
  const workflows::RunDiff diff =
      KW_TRY(workflows::diff_runs(root_option(args), args.positionals[0], args.positionals[1]));
  io.print(diff_text(diff, io.style()));
  return io.finish(kOk, to_json(diff));
}

Result<int> fsck_command(const Args& args, Io& io) {
  const bool all = args.has("--all");
  if (args.positionals.empty() != all)
    return input_error("fsck needs a run or --all: kernelwright fsck RUN, kernelwright fsck --all");
  const workflows::FsckReport report =
      KW_TRY(workflows::fsck({.root = root_option(args),
                              .run = all ? "" : args.positionals.front(),
                              .repair = args.has("--repair")}));
  io.print(fsck_text(report, io.style()));
  return io.finish(report.has_faults() ? kCandidateFailed : kOk, to_json(report));
}

Result<int> gc_command(const Args& args, Io& io) {
  const store::GcRequest request = KW_TRY(gc_request(args));
  const store::GcReport report = KW_TRY(store::collect_garbage(request));
  io.print(gc_text(report, request.remove, io.style()));
  const bool all = report.removable() == static_cast<int64_t>(report.items.size());
  return io.finish(all ? kOk : kEnvironment, gc_json(report, request.remove));
}

}  // namespace kw::commands
