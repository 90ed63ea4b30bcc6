#include "store/summary.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "store/run.h"
#include "store/run_impl.h"

namespace kw::store {

namespace {

std::optional<double> number(const Json& json) {
  return json.is_number() ? std::optional(json.as_double()) : std::nullopt;
}

CandidateRow candidate_row(const Run& run, const record::Candidate& candidate, int64_t place) {
  const Json verdict = run.judgement(candidate.id);
  return CandidateRow{.id = candidate.id,
                      .number = place,
                      .proposer = candidate.proposer,
                      .origin = candidate.origin,
                      .tunes = candidate.tunes,
                      .verdict = verdict["verdict"].as_string(),
                      .stage = verdict["stage"].as_string(),
                      .reason = verdict["reason"].as_string(),
                      .microseconds = measured_us(run.timing(candidate.id)),
                      .estimate_us = number(run.profile(candidate.id)["estimate"]["us"]),
                      .when = candidate.when,
                      .judge = judge_version(verdict)};
}

void keep_less(const std::optional<double>& value, std::optional<double>* least) {
  if (value && *value > 0) *least = std::min(least->value_or(*value), *value);
}

void count(const std::vector<CandidateRow>& candidates, RunRow* row) {
  row->candidates = static_cast<int64_t>(candidates.size());
  for (const CandidateRow& candidate : candidates) {
    row->judged += candidate.verdict.empty() ? 0 : 1;
    if (candidate.verdict != "passed") continue;
    ++row->passed;
    keep_less(candidate.microseconds, &row->best_us);
    keep_less(candidate.estimate_us, &row->estimate_us);
  }
}

int64_t bytes_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code code;
  int64_t total = 0;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    std::error_code ignored;
    const bool plain = at->symlink_status(ignored).type() == fs::file_type::regular;
    const uintmax_t size = plain ? at->file_size(ignored) : 0;
    if (!ignored) total += static_cast<int64_t>(size);
  }
  return total;
}

std::string mark_of(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return "-";
  return fmt::format("{}@{}.{}", st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

RunSummary damaged(const std::string& folder, const Error& why) {
  RunSummary summary;
  RunRow& row = summary.run;
  row.id = std::filesystem::path(folder).filename();
  row.folder = folder;
  row.bytes = bytes_in(folder);
  row.status = "damaged";
  row.reason = why.message;
  return summary;
}

}  // namespace

RunSummary summarize(const std::string& folder) {
  const Result<Run> run = Run::open(folder, Access::Read);
  return run ? summarize(*run) : damaged(folder, run.error());
}

RunSummary summarize(const Run& opened) {
  const Run* run = &opened;
  const std::string& folder = run->folder();
  const Result<Manifest> manifest = read_manifest(Layout{folder});
  if (!manifest) return damaged(folder, manifest.error());
  RunSummary summary;
  RunRow& row = summary.run;
  row.folder = folder;
  row.bytes = bytes_in(folder);
  row.id = manifest->id;
  row.name = manifest->name;
  row.created = manifest->created;
  const std::vector<record::Event> events = run->events();
  if (!events.empty()) row.seconds = events.back().seconds;
  const Json report = run->report();
  row.status = status_of(report);
  row.reason = report["failure_reason"].as_string();
  row.speedup = number(report["performance"]["speedup_vs_reference"]);
  const Layout at{folder};
  const Json config = read_json(at, at.input("config.json"));
  row.proposer = config["proposer"].as_string();
  row.target = config["target"].as_string();
  if (row.target.empty() || row.target == "auto") {
    row.target = read_json(at, at.input("env.json"))["device"]["target"].as_string();
  }
  for (const record::Candidate& candidate : run->candidates()) {
    const auto place = static_cast<int64_t>(summary.candidates.size()) + 1;
    summary.candidates.push_back(candidate_row(*run, candidate, place));
  }
  count(summary.candidates, &row);
  return summary;
}

int64_t judge_version(const Json& verdict) {
  return verdict["judge"].is_number() ? verdict["judge"].as_int() : 1;
}

std::optional<double> measured_us(const Json& timing) {
  // The most reliable measurement first.
  for (const Json* place : {&timing["microseconds"], &timing["candidate"]["timing"]["median_us"],
                            &timing["paired"]["median_us"], &timing["quick"]["median_us"]}) {
    if (place->is_number()) return place->as_double();
  }
  return std::nullopt;
}

std::string change_mark(const std::string& folder) {
  const Layout at{folder};
  return mark_of(at.events()) + " " + mark_of(at.report()) + " " + mark_of(at.manifest());
}

}  // namespace kw::store
