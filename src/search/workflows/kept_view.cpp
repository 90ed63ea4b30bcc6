// A view is believed only as far as it was checked: the user sees the best candidates, so their
// files are hashed again each time. Files of the others may have been changed since the view was
// made; resume and fsck read all. Comparing the times of 100,000 files would take longer than
// inspect may, and would not show an edit that sets the time back.
#include "workflows/kept_view.h"

#include <algorithm>

#include "core/json_reader.h"
#include "core/json_writer.h"
#include "os/inside.h"
#include "store/index.h"

namespace kw::store {

void fields(auto& v, CandidateRow& r) {
  v("id", r.id)("number", r.number)("proposer", r.proposer)("origin", r.origin)("tunes", r.tunes);
  v("verdict", r.verdict)("stage", r.stage)("reason", r.reason)("us", r.microseconds);
  v("estimate_us", r.estimate_us)("when", r.when)("judge", r.judge);
}

void fields(auto& v, RunRow& r) {
  v("id", r.id)("folder", r.folder)("name", r.name)("created", r.created)("status", r.status);
  v("proposer", r.proposer)("target", r.target)("reason", r.reason)("candidates", r.candidates);
  v("judged", r.judged)("passed", r.passed)("seconds", r.seconds)("best_us", r.best_us);
  v("estimate_us", r.estimate_us)("speedup", r.speedup)("bytes", r.bytes);
}

}  // namespace kw::store

namespace kw::workflows {

struct KeptView {
  RunView view;
  std::vector<std::string> hashes;  // of the shown candidates' verdicts and timings
  std::string report_hash;
};

namespace {

constexpr uint64_t kLongestFile = uint64_t{1} << 28;
constexpr const char* kReport = "report.json";

std::string hash_of(const std::string& folder, const std::string& name) {
  const auto text = os::read_inside_if_there(folder, name, kLongestFile);
  return text && *text ? store::content_hash(**text) : "";
}

std::string hash_of_results(const std::string& folder, const std::string& id) {
  return hash_of(folder, "candidates/" + id + "/verdict.json") + " " +
         hash_of(folder, "candidates/" + id + "/timing.json");
}

}  // namespace

void fields(auto& v, KeptView& k) {
  RunView& w = k.view;
  v("run", w.run)("candidates", w.candidates)("listed", w.listed)("stopped", w.stopped)("sessions",
                                                                                        w.sessions);
  v("crashes", w.crashes)("damage", w.damage)("foreign", w.foreign)("prompt", w.prompt);
  v("unsettled_calls", w.unsettled_calls)("unsettled_cost", w.unsettled_cost);
  v("kernel", w.kernel_path)("hashes", k.hashes)("report_hash", k.report_hash);
}

std::optional<RunView> kept_view(const std::string& folder, size_t most) {
  const std::optional<std::string> note = store::kept_note(folder);
  const Result<Json> json = note ? Json::parse(*note) : Result<Json>(Json());
  if (!json || json->is_null() || most > kKeptCandidates) return std::nullopt;
  auto kept = read_record<KeptView>(*json);
  RunView& view = kept.view;
  if (view.run.folder != folder || kept.hashes.size() != view.candidates.size())
    return std::nullopt;
  for (size_t i = 0; i < std::min(most, view.candidates.size()); ++i) {
    if (hash_of_results(folder, view.candidates[i].id) != kept.hashes[i]) return std::nullopt;
  }
  const auto report = os::read_inside_if_there(folder, kReport, kLongestFile);
  const std::string text = report && *report ? **report : "";
  if ((text.empty() ? "" : store::content_hash(text)) != kept.report_hash) return std::nullopt;
  if (Result<Json> parsed = Json::parse(text)) view.report = std::move(parsed).value();
  return std::move(view);
}

void keep_view(const RunView& view, const std::string& mark) {
  if (view.run.candidates < kManyCandidates || view.run.status == "running") return;
  KeptView kept;
  kept.view = view;
  kept.view.listed = static_cast<int64_t>(view.candidates.size());
  kept.view.candidates.resize(std::min(view.candidates.size(), kKeptCandidates));
  for (const store::CandidateRow& row : kept.view.candidates)
    kept.hashes.push_back(hash_of_results(view.run.folder, row.id));
  kept.report_hash = hash_of(view.run.folder, kReport);
  store::keep_note(view.run.folder, mark, record_json(kept).dump());
}

}  // namespace kw::workflows
