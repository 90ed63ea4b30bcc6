// Nsight Compute may be missing, forbidden or slow, may crash, and knows other metrics on each GPU.
// So the call is written to files and a small worker replays it under ncu, apart from our own
// process. Metrics are asked by name from `--query-metrics`, once per process. A name that ncu
// lists but then refuses is dropped and ncu is started again, at most eight times; after that only
// the sections remain. Failures are texts, not Errors. Fixed section sets alone were the
// alternative; they lack some canonical metrics. The cost: up to nine starts of ncu for a bad
// version.
#include "evidence/run_ncu.h"

#include <fmt/core.h>

#include <map>
#include <mutex>

#include "catalog/metric.h"
#include "core/contains.h"
#include "core/one_line.h"
#include "core/text.h"
#include "gpu/profiled_call.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/own_program.h"
#include "os/process.h"
#include "os/scratch.h"
#include "profile/ncu.h"
#include "profile/ncu_table.h"

namespace kw::evidence {
namespace {

constexpr uint64_t kMostOutput = uint64_t{64} << 20;
constexpr double kQuerySeconds = 60;
constexpr int kMostRefusals = 8;  // metrics that ncu may list and then refuse

constexpr const char* kSections[] = {"SpeedOfLight",
                                     "ComputeWorkloadAnalysis",
                                     "MemoryWorkloadAnalysis",
                                     "SchedulerStats",
                                     "WarpStateStats",
                                     "InstructionStats",
                                     "LaunchStats",
                                     "Occupancy"};
constexpr const char* kRawPage[] = {"--csv", "--page", "raw", "--print-units", "base"};

/// What this process knows about a profiler, by its path.
struct ProfilerFacts {
  std::string forbidden;                        // why it is not run again; "": it may be
  std::optional<std::vector<std::string>> ask;  // metrics to ask by name; not set: not queried yet
};

std::mutex& facts_mutex() {
  static std::mutex mutex;
  return mutex;
}

ProfilerFacts& facts_of(const std::string& ncu) {
  static std::map<std::string, ProfilerFacts> all;
  return all[ncu];
}

/// The result of one start of the profiler.
struct Started {
  std::string log;      // everything it printed
  std::string problem;  // "": it ended well
};

Result<Started> start_ncu(const std::vector<std::string>& argv, double timeout_seconds) {
  os::ProcessLimits limits;
  limits.timeout_seconds = timeout_seconds;
  limits.output_bytes = kMostOutput;
  const Result<os::ProcessResult> ran = os::run_process(argv, {}, limits);
  KW_TRY(os::check_interrupted());
  Started started;
  if (!ran) {
    started.problem = ran.error().message;
    return started;
  }
  started.log = ran->out + (ran->err.empty() ? "" : "\n" + ran->err);
  if (ran->timed_out)
    started.problem = fmt::format("ncu did not finish within {:g} s", timeout_seconds);
  else if (ran->signal != 0)
    started.problem = fmt::format("ncu was killed by signal {}", ran->signal);
  else if (ran->exit_code != 0)
    started.problem = fmt::format("ncu ended with code {}", ran->exit_code);
  return started;
}

/// The message about a failure: of the profiled process, otherwise of the profiler, otherwise the
/// last line.
std::string said(const std::string& log) {
  constexpr std::string_view kOurs = "kernelwright: ", kTheirs = "==ERROR==";
  constexpr size_t kMostWords = 300;
  std::string theirs, last;
  for (const std::string_view line : split_lines(log)) {
    const std::string_view words = trim(line);
    if (words.starts_with(kOurs))
      return std::string(words.substr(kOurs.size()).substr(0, kMostWords));
    if (words.starts_with(kTheirs) && theirs.empty()) theirs = trim(words.substr(kTheirs.size()));
    if (!words.empty() && !words.starts_with("==")) last = words;
  }
  return (theirs.empty() ? last : theirs).substr(0, kMostWords);
}

std::string with_words(const Started& started) {
  const std::string words = said(started.log);
  return words.empty() ? started.problem : started.problem + ": " + one_line(words);
}

/// The metric that the profiler does not know; "" when the failure has another cause.
std::string refused_metric(const std::string& log) {
  constexpr std::string_view kWords = "Failed to find metric ";
  const size_t at = log.find(kWords);
  if (at == std::string::npos) return "";
  const size_t begin = at + kWords.size();
  std::string name = log.substr(begin, log.find_first_of(" ,;\r\n", begin) - begin);
  if (name.ends_with('.')) name.pop_back();
  return name;
}

class NcuSession {
 public:
  NcuSession(const NcuRequest& request, std::string folder)
      : request_(request), folder_(std::move(folder)) {}

  Result<NcuProfile> run() {
    const gpu::ProfiledCall call =
        KW_TRY(gpu::ProfiledCall::write(*request_.compiled, *request_.program, *request_.inputs,
                                        folder_ + "/call", request_.timeout_seconds));
    words_ = call.words();
    // An old report at this path must not be read as the new one.
    if (const std::string old = report_stem() + ".ncu-rep";
        !request_.report.empty() && os::exists(old))
      KW_TRY(os::remove_file(old));
    KW_TRY(find_metrics());
    for (int refusals = 0; refusals <= kMostRefusals; ++refusals) {
      const std::vector<std::string> argv = KW_TRY(command());
      const Started started = KW_TRY(start_ncu(argv, request_.timeout_seconds));
      const std::string refused = refused_metric(started.log);
      if (refused.empty() || metrics_.empty()) return answer(started);
      const size_t before = metrics_.size();
      std::erase(metrics_, refused);
      // The refused name is not in our list: use only the sections.
      if (metrics_.size() == before || refusals + 1 == kMostRefusals) metrics_.clear();
      const std::lock_guard lock(facts_mutex());
      facts_of(request_.ncu).ask = metrics_;
    }
    return NcuProfile{"", "ncu refused every set of metrics", ""};
  }

 private:
  Status find_metrics() {
    {
      const std::lock_guard lock(facts_mutex());
      if (const auto& known = facts_of(request_.ncu).ask) {
        metrics_ = *known;
        return Done{};
      }
    }
    const Started asked = KW_TRY(start_ncu({request_.ncu, "--query-metrics"}, kQuerySeconds));
    metrics_ = metrics_to_ask(queried_metrics(asked.log));
    const std::lock_guard lock(facts_mutex());
    facts_of(request_.ncu).ask = metrics_;
    return Done{};
  }

  Result<std::vector<std::string>> command() const {
    std::vector<std::string> argv = {
        request_.ncu, "--clock-control",    "none", "--profile-from-start",
        "off",        "--target-processes", "all"};
    for (const char* section : kSections) {
      argv.emplace_back("--section");
      argv.emplace_back(section);
    }
    if (!metrics_.empty()) {
      argv.emplace_back("--metrics");
      argv.push_back(join(metrics_, ","));
    }
    if (request_.report.empty()) {
      argv.insert(argv.end(), std::begin(kRawPage), std::end(kRawPage));
    } else {
      argv.insert(argv.end(), {"-f", "-o", report_stem()});
    }
    argv.push_back(KW_TRY(os::worker_program()));
    argv.insert(argv.end(), words_.begin(), words_.end());
    return argv;
  }

  /// ncu adds the ending itself.
  std::string report_stem() const {
    constexpr std::string_view kEnding = ".ncu-rep";
    const std::string& report = request_.report;
    return report.ends_with(kEnding) ? report.substr(0, report.size() - kEnding.size()) : report;
  }

  Result<NcuProfile> answer(const Started& started) {
    NcuProfile profile;
    if (profile::counters_forbidden(started.log)) {
      profile.problem = profile::counters_forbidden_advice();
      const std::lock_guard lock(facts_mutex());
      facts_of(request_.ncu).forbidden = profile.problem;
      return profile;
    }
    if (!started.problem.empty()) {
      profile.problem = with_words(started);
      return profile;
    }
    if (request_.report.empty()) {
      profile.text = started.log;
      if (trim(profile.text).empty()) profile.problem = "ncu printed nothing";
      return profile;
    }
    const std::string report = report_stem() + ".ncu-rep";
    auto text = read_report(request_.ncu, report, request_.timeout_seconds);
    KW_TRY(os::check_interrupted());
    if (text)
      profile.text = std::move(text).value();
    else
      profile.problem = text.error().message;
    if (os::exists(report)) profile.report = report;
    return profile;
  }

  const NcuRequest& request_;
  std::string folder_;
  std::vector<std::string> words_, metrics_;
};

}  // namespace

Result<NcuProfile> profile_call(const NcuRequest& request) {
  {
    const std::lock_guard lock(facts_mutex());
    if (const std::string& why = facts_of(request.ncu).forbidden; !why.empty())
      return NcuProfile{"", why, ""};
  }
  const os::ScratchFolder scratch = KW_TRY(os::ScratchFolder::make("compile"));
  return NcuSession(request, scratch.path()).run();
}

Result<std::string> read_report(const std::string& ncu, const std::string& report,
                                double timeout_seconds) {
  std::vector<std::string> argv = {ncu, "--import", report};
  argv.insert(argv.end(), std::begin(kRawPage), std::end(kRawPage));
  Started started = KW_TRY(start_ncu(argv, timeout_seconds));
  if (!started.problem.empty())
    return input_error("{} cannot be read: {}", report, with_words(started));
  return std::move(started.log);
}

std::set<std::string> queried_metrics(std::string_view text) {
  std::set<std::string> names;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view name = line.substr(0, line.find_first_of(" \t"));
    if (name.find("__") != std::string_view::npos) names.emplace(name);
  }
  return names;
}

std::vector<std::string> metrics_to_ask(const std::set<std::string>& available) {
  std::vector<std::string> ask;
  for (const catalog::Metric& metric : catalog::metrics()) {
    for (const std::string& column : metric.ncu) {
      if (available.count(column.substr(0, column.find('.'))) == 0) continue;
      if (!contains(ask, column)) ask.push_back(column);
      if (metric.combine == catalog::Metric::Combine::First) break;
    }
  }
  return ask;
}

}  // namespace kw::evidence
